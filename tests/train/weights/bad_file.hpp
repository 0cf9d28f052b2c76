// BadFile: an HDF5 file for an Affine that is written by the C API, and the error on loading it.
#pragma once

#include <hdf5.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <weft/autograd/error.hpp>
#include <weft/train/weights/weights.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/affine.hpp"
#include "tests/train/temporary_folder.hpp"
#include "train/files/hdf5/internal/library.hpp"

namespace weft {

using hdf5::Handle;
using Sizes = std::vector<hsize_t>;

inline Handle space_of(const Sizes& sizes) {
  return Handle(H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr));
}

// Writes a file by the HDF5 C API.
struct Maker {
  Handle file;

  Handle create(const std::string& path, const Sizes& sizes, hid_t type = H5T_NATIVE_FLOAT,
                hid_t properties = H5P_DEFAULT) const {
    return Handle(H5Dcreate2(file, path.c_str(), type, space_of(sizes), H5P_DEFAULT, properties,
                             H5P_DEFAULT));
  }
  // A dataset of zeros.
  Handle write(const std::string& path, const Sizes& sizes, hid_t type = H5T_NATIVE_FLOAT,
               hid_t properties = H5P_DEFAULT) const {
    Handle dataset = create(path, sizes, type, properties);
    std::size_t bytes = H5Tget_size(type);
    for (hsize_t size : sizes) bytes *= size;
    const std::vector<char> zeros(bytes);
    H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, zeros.data());
    return dataset;
  }
  Handle group(const std::string& path) const {
    return Handle(H5Gcreate2(file, path.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  }
};

inline Handle chunked(const Sizes& chunk) {
  Handle properties(H5Pcreate(H5P_DATASET_CREATE));
  H5Pset_chunk(properties, static_cast<int>(chunk.size()), chunk.data());
  return properties;
}

using Make = std::function<void(const Maker&)>;

// A file for an Affine of weight [3, 4] and bias [3].
struct BadFile {
  TemporaryFolder folder;
  std::filesystem::path path = folder / "weights.h5";

  explicit BadFile(const Make& make, bool latest_format = false) {
    const hdf5::LibraryLock silent;
    const Handle access(H5Pcreate(H5P_FILE_ACCESS));
    if (latest_format) H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    make({Handle(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access))});
  }

  // The message of the error on loading the file.
  std::string error() const { return error(Affine<float>({3, 4}, {3})); }
  template <class Model>
  std::string error(Model model) const {
    for (const auto& [name, parameter] : named_parameters(model))
      std::ranges::fill(parameter->values(), 5.0f);
    const std::string message = message_of<FileError>([&] { (void)load_weights(path, model); });
    for (const auto& [name, parameter] : named_parameters(model))
      for (float value : parameter->value()) CHECK(value == 5.0f);
    CHECK_THAT(message, Catch::Contains(path.string()));
    return message;
  }
};

inline std::string error_of(const Make& make, bool latest_format = false) {
  return BadFile(make, latest_format).error();
}

// The message for a file with a good bias and a weight made by `make`.
inline std::string error_of_weight(
    const std::function<void(const Maker&, const std::string&)>& make) {
  const std::string message = error_of([&](const Maker& maker) {
    maker.write("bias", {3});
    make(maker, "weight");
  });
  CHECK_THAT(message, Catch::Contains("weight"));
  return message;
}

}  // namespace weft
