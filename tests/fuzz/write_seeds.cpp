// write_seeds FOLDER: writes small HDF5 files of every format and kind of storage, the folder of a
// training, and vocab.json with merges.txt, from which the fuzzers start.
#include <hdf5.h>

#include <filesystem>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include <weft/autograd/error.hpp>
#include <weft/layers/models/gpt.hpp>
#include <weft/train/text/tokenizers/byte_pair_encoding.hpp>
#include <weft/train/weights/weights.hpp>
#include "tests/fuzz/training.hpp"

namespace {

using namespace weft;
namespace fs = std::filesystem;

using Sizes = std::vector<hsize_t>;

struct Output {
  hid_t file;

  void dataset(const std::string& name, const Sizes& sizes, hid_t properties = H5P_DEFAULT,
               const Sizes& limits = {}) const {
    std::size_t count = 1;
    for (const hsize_t size : sizes) count *= size;
    const std::vector<float> values(count, 0.5f);
    const hid_t space = H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(),
                                         limits.empty() ? nullptr : limits.data());
    const hid_t parents = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(parents, 1);
    const hid_t dataset =
        H5Dcreate2(file, name.c_str(), H5T_IEEE_F32LE, space, parents, properties, H5P_DEFAULT);
    H5Dwrite(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    H5Dclose(dataset);
    H5Pclose(parents);
    H5Sclose(space);
  }
  // A dataset of a named type that has only its fill value.
  void unwritten(const std::string& name, const Sizes& sizes, hid_t properties) const {
    const float value = 0.5f;
    H5Pset_fill_value(properties, H5T_NATIVE_FLOAT, &value);
    const hid_t type = H5Tcopy(H5T_IEEE_F32LE);
    H5Tcommit2(file, ("type of " + name.substr(name.rfind('/') + 1)).c_str(), type, H5P_DEFAULT,
               H5P_DEFAULT, H5P_DEFAULT);
    const hid_t space = H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr);
    const hid_t parents = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(parents, 1);
    H5Dclose(H5Dcreate2(file, name.c_str(), type, space, parents, properties, H5P_DEFAULT));
    H5Tclose(type);
    H5Pclose(parents);
    H5Sclose(space);
  }
  void text_attribute(const std::string& name) const {
    const hid_t space = H5Screate(H5S_SCALAR);
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, H5T_VARIABLE);
    const char* text = "some text";
    const hid_t attribute = H5Acreate2(file, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(attribute, type, &text);
    H5Aclose(attribute);
    H5Tclose(type);
    H5Sclose(space);
  }
};

hid_t chunks_of(const Sizes& chunk, bool filtered) {
  const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(properties, static_cast<int>(chunk.size()), chunk.data());
  if (filtered) {
    H5Pset_shuffle(properties);
    H5Pset_deflate(properties, 6);
    H5Pset_fletcher32(properties);
  }
  return properties;
}

void write(const fs::path& path, bool newest, const std::function<void(const Output&)>& fill) {
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  if (newest) H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
  fill({file});
  H5Fclose(file);
  H5Pclose(access);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) fail<ValueError>("write_seeds", "a folder", "none");
  const fs::path folder = argv[1];
  for (const bool newest : {false, true}) {
    const std::string format = newest ? "newest" : "oldest";
    write(folder / (format + "_linear.h5"), newest, [](const Output& out) {
      out.dataset("weight", {3, 4});
      out.dataset("bias", {3});
      out.text_attribute("name");
    });
    for (const bool filtered : {false, true})
      write(folder / (format + (filtered ? "_filtered.h5" : "_chunked.h5")), newest,
            [filtered](const Output& out) {
              out.dataset("weight", {3, 4}, chunks_of({2, 2}, filtered));
              out.dataset("bias", {3}, chunks_of({3}, filtered));
              out.dataset("tree", {5, 4}, chunks_of({2, 1}, filtered),
                          {H5S_UNLIMITED, H5S_UNLIMITED});
              out.dataset("paged", {1100}, chunks_of({1}, filtered));
              out.dataset("growing", {3, 70}, chunks_of({2, 1}, filtered), {4, H5S_UNLIMITED});
              out.dataset("far", {2, 40}, chunks_of({1, 3}, filtered), {H5S_UNLIMITED, 300'000});
            });
    write(folder / (format + "_groups.h5"), newest, [](const Output& out) {
      for (int i = 0; i < 20; ++i) {
        out.dataset("blocks/" + std::to_string(i) + "/weight", {4});
        out.text_attribute("name " + std::to_string(i));
      }
    });
    write(folder / (format + "_links.h5"), newest, [](const Output& out) {
      out.unwritten("group/weight", {3, 4}, chunks_of({2, 2}, false));
      out.unwritten("bias", {3}, H5Pcreate(H5P_DATASET_CREATE));
      for (const auto& [target, name] : {std::pair("group/weight", "weight"), {"/group", "model"}})
        H5Lcreate_soft(target, out.file, name, H5P_DEFAULT, H5P_DEFAULT);
    });
    write(folder / (format + "_packed.h5"), newest, [](const Output& out) {
      out.dataset("in_proj_weight", {12, 4});
      out.dataset("in_proj_bias", {12});
      out.dataset("out_proj.weight", {4, 4});
      out.dataset("out_proj.bias", {4});
    });
  }
  Random random(1);
  Gpt<float> gpt(
      {.vocabulary_size = 7, .max_len = 5, .num_hiddens = 4, .num_heads = 2, .num_blocks = 2},
      random);
  save_weights(folder / "gpt.h5", gpt);
  SmallTraining().run(folder / "training", 2);
  BytePairEncoding::learn("the cat and the hat, the end", 264)
      .save(folder / "vocab.json", folder / "merges.txt");
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
