// HDF5 files that are damaged, malicious or unusual: loading throws with a message that names the
// problem, and the model is unchanged.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <functional>

#include <weft/autograd/error.hpp>
#include <weft/layers/multi_head_attention.hpp>
#include <weft/train/hdf5/hdf5_file.hpp>
#include <weft/train/weights/weights.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/affine.hpp"
#include "tests/train/file_bytes.hpp"
#include "tests/train/temporary_folder.hpp"
#include "train/hdf5/internal/handle.hpp"

namespace weft {
namespace {

using hdf5::Handle;
using Sizes = std::vector<hsize_t>;

Handle space_of(const Sizes& sizes) {
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

Handle chunked(const Sizes& chunk) {
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

std::string error_of(const Make& make, bool latest_format = false) {
  return BadFile(make, latest_format).error();
}

// The message for a file with a good bias and a weight made by `make`.
std::string error_of_weight(const std::function<void(const Maker&, const std::string&)>& make) {
  const std::string message = error_of([&](const Maker& maker) {
    maker.write("bias", {3});
    make(maker, "weight");
  });
  CHECK_THAT(message, Catch::Contains("weight"));
  return message;
}

std::string compressed_zeros(std::size_t count) {
  const std::string zeros(count, '\0');
  uLongf size = ::compressBound(static_cast<uLong>(count));
  std::string compressed(size, '\0');
  ::compress2(reinterpret_cast<Bytef*>(compressed.data()), &size,
              reinterpret_cast<const Bytef*>(zeros.data()), static_cast<uLong>(count), 9);
  compressed.resize(size);
  return compressed;
}

// The message for a weight in one chunk that is stored as `stored` and declared compressed.
std::string error_of_chunk(const std::string& stored) {
  return error_of_weight([&](const Maker& maker, const std::string& weight) {
    const Handle properties = chunked({3, 4});
    H5Pset_deflate(properties, 9);
    const Handle dataset = maker.create(weight, {3, 4}, H5T_NATIVE_FLOAT, properties);
    const hsize_t offset[2] = {0, 0};
    H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, offset, stored.size(), stored.data());
  });
}

std::string error_of_opening(const std::filesystem::path& path) {
  return message_of<FileError>([&] { Hdf5File file(path); });
}

}  // namespace

TEST_CASE("bad file: not a regular file", "[train]") {
  const TemporaryFolder folder;
  CHECK_THAT(error_of_opening(folder / "none.h5"),
             Catch::Contains("none.h5\": expected a file that can be read, got No such file"));
  CHECK_THAT(error_of_opening(folder.path()), Catch::Contains("a regular file, got a directory"));
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0666) == 0);
  CHECK_THAT(error_of_opening(folder / "pipe"), Catch::Contains("got a device, pipe or socket"));
  CHECK_THAT(error_of_opening("/dev/zero"), Catch::Contains("got a device, pipe or socket"));
}

TEST_CASE("bad file: empty, text, or not readable", "[train]") {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "file.h5";
  write_bytes(path, "");
  CHECK_THAT(error_of_opening(path), Catch::Contains("expected an HDF5 file, got an empty file"));
  write_bytes(path, std::string(5'000, 'x'));
  CHECK_THAT(error_of_opening(path), Catch::Contains("expected an HDF5 file, got other data"));
  std::filesystem::permissions(folder.path(), std::filesystem::perms{0755});
  std::filesystem::permissions(path, std::filesystem::perms::none);
  if (::geteuid() == 0) REQUIRE(::seteuid(65534) == 0);
  CHECK_THAT(error_of_opening(path), Catch::Contains("that can be read, got Permission denied"));
  if (::getuid() == 0) REQUIRE(::seteuid(0) == 0);
}

TEST_CASE("bad file: truncated to any length", "[train]") {
  const BadFile file([](const Maker& maker) {
    maker.write("weight", {3, 4});
    maker.write("bias", {3});
  });
  Affine<float> model({3, 4}, {3});
  CHECK(load_weights(file.path, model).loaded.size() == 2);
  for (std::uintmax_t size = std::filesystem::file_size(file.path); size-- > 0;) {
    std::filesystem::resize_file(file.path, size);
    REQUIRE_FALSE(error_of_opening(file.path).empty());
  }
}

TEST_CASE("bad file: being written by another process", "[train]") {
  const BadFile file([](const Maker& maker) { maker.write("weight", {3, 4}); });
  const int writer = ::open(file.path.c_str(), O_RDWR);
  REQUIRE(::flock(writer, LOCK_EX) == 0);
  CHECK_THAT(file.error(), Catch::Contains("a complete file, got one that another process"));
  ::close(writer);
}

TEST_CASE("bad file: soft links and links to other files", "[train]") {
  const BadFile other([](const Maker& maker) { maker.write("group/weight", {3, 4}); });
  const std::string target = other.path.string();
  CHECK_THAT(error_of_weight([&](const Maker& maker, const std::string& weight) {
               H5Lcreate_external(target.c_str(), "group/weight", maker.file, weight.c_str(),
                                  H5P_DEFAULT, H5P_DEFAULT);
             }),
             Catch::Contains("/weight: expected an object of this file, got a link to another"));
  CHECK_THAT(error_of([&](const Maker& maker) {
               H5Lcreate_external(target.c_str(), "group", maker.file, "group", H5P_DEFAULT,
                                  H5P_DEFAULT);
             }),
             Catch::Contains("/group: expected an object of this file, got a link to another"));
  CHECK_THAT(error_of_weight([](const Maker& maker, const std::string& weight) {
               H5Lcreate_soft("/bias", maker.file, weight.c_str(), H5P_DEFAULT, H5P_DEFAULT);
             }),
             Catch::Contains("/weight: expected an object of this file, got a soft link"));
  CHECK_THAT(error_of([](const Maker& maker) {
               H5Lcreate_soft("/b", maker.file, "a", H5P_DEFAULT, H5P_DEFAULT);
               H5Lcreate_soft("/a", maker.file, "b", H5P_DEFAULT, H5P_DEFAULT);
             }),
             Catch::Contains("/a: expected an object of this file, got a soft link"));
  const BadFile linked([&](const Maker& maker) {
    H5Lcreate_external(target.c_str(), "group", maker.file, "group", H5P_DEFAULT, H5P_DEFAULT);
  });
  CHECK_THAT(
      message_of<FileError>([&] { Hdf5File(linked.path).tensor<float>("group/weight"); }),
      Catch::Contains("/group: expected an object of this file, got a link to another file"));
}

TEST_CASE("bad file: groups with several hard links, as in a cycle", "[train]") {
  const auto expected =
      Catch::Contains("expected a group with one hard link, got one with several");
  CHECK_THAT(error_of([](const Maker& maker) {
               H5Lcreate_hard(maker.file, "/", maker.file, "loop", H5P_DEFAULT, H5P_DEFAULT);
             }),
             expected);
  CHECK_THAT(error_of([](const Maker& maker) {
               const Handle group = maker.group("a");
               H5Lcreate_hard(maker.file, "a", group, "loop", H5P_DEFAULT, H5P_DEFAULT);
             }),
             expected);
}

TEST_CASE("file: a dataset with two hard links is loaded for tied parameters", "[train]") {
  const BadFile file([](const Maker& maker) {
    maker.write("weight", {3});
    H5Lcreate_hard(maker.file, "weight", maker.file, "bias", H5P_DEFAULT, H5P_DEFAULT);
  });
  Affine<float> model({3}, {3});
  CHECK(load_weights(file.path, model).loaded.size() == 2);
}

TEST_CASE("bad file: data in other files", "[train]") {
  CHECK_THAT(error_of_weight([](const Maker& maker, const std::string& weight) {
               const Handle properties(H5Pcreate(H5P_DATASET_CREATE));
               H5Pset_external(properties, "/etc/passwd", 0, 48);
               maker.create(weight, {3, 4}, H5T_NATIVE_FLOAT, properties);
             }),
             Catch::Contains("/weight: expected data in the file itself, got a dataset with its "
                             "data in another file"));
  CHECK_THAT(error_of_weight([](const Maker& maker, const std::string& weight) {
               const Handle properties(H5Pcreate(H5P_DATASET_CREATE));
               const Handle space = space_of({3, 4});
               H5Pset_virtual(properties, space, "other.h5", "weight", space);
               maker.create(weight, {3, 4}, H5T_NATIVE_FLOAT, properties);
             }),
             Catch::Contains("expected data in the file itself, got a virtual dataset"));
}

TEST_CASE("bad file: filters that are not built in", "[train]") {
  CHECK_THAT(
      error_of_weight([](const Maker& maker, const std::string& weight) {
        constexpr H5Z_filter_t zstandard = 32'015;
        const Handle properties = chunked({3, 4});
        H5Pset_filter(properties, zstandard, H5Z_FLAG_OPTIONAL, 0, nullptr);
        maker.write(weight, {3, 4}, H5T_NATIVE_FLOAT, properties);
      }),
      Catch::Contains("expected no filters except deflate, shuffle and fletcher32, each once, "
                      "got filter 32015 at position 0"));
  CHECK_THAT(error_of_weight([](const Maker& maker, const std::string& weight) {
               const Handle properties = chunked({3, 4});
               H5Pset_deflate(properties, 9);
               H5Pset_deflate(properties, 9);
               maker.write(weight, {3, 4}, H5T_NATIVE_FLOAT, properties);
             }),
             Catch::Contains("each once, got filter 1 at position 1"));
}

TEST_CASE("bad file: gzip bombs", "[train]") {
  CHECK_THAT(error_of_chunk(compressed_zeros(500'000)),
             Catch::Contains("/weight: expected chunks of 48 bytes, got a larger one"));
  CHECK_THAT(error_of_chunk(compressed_zeros(5'000'000)),
             Catch::Contains("/weight: expected chunks of 48 bytes, got one stored in"));
  CHECK_THAT(error_of_chunk(compressed_zeros(47)),
             Catch::Contains("/weight: expected chunks of 48 bytes, got a smaller one"));
  CHECK_THAT(error_of_chunk("this is no compressed text"),
             Catch::Contains("/weight: expected chunks of 48 bytes, got a smaller one"));
}

TEST_CASE("bad file: chunks out of proportion", "[train]") {
  const auto error_of_chunks = [](const Sizes& sizes, const Sizes& chunk) {
    const BadFile file(
        [&](const Maker& maker) { maker.create("x", sizes, H5T_NATIVE_FLOAT, chunked(chunk)); });
    return message_of<FileError>([&] { Hdf5File(file.path).tensor<float>("x"); });
  };
  const auto expected =
      Catch::Contains("/x: expected at most 65536 chunks of at most 16 MiB, in proportion to");
  CHECK_THAT(error_of_chunks({100'000}, {1}), expected);
  CHECK_THAT(error_of_chunks({hsize_t{1} << 40, 1 << 15}, {1, 1}),
             Catch::Contains("/x: expected at most 16 TiB, got 36028797018963968 elements of 4"));
  // HDF5 itself wants a chunk to be no larger than a dataset that cannot grow.
  const BadFile growing([](const Maker& maker) {
    const hsize_t size = 12, limit = H5S_UNLIMITED;
    const Handle space(H5Screate_simple(1, &size, &limit));
    Handle(H5Dcreate2(maker.file, "x", H5T_NATIVE_FLOAT, space, H5P_DEFAULT, chunked({1 << 28}),
                      H5P_DEFAULT));
  });
  CHECK_THAT(message_of<FileError>([&] { Hdf5File(growing.path).tensor<float>("x"); }), expected);
}

TEST_CASE("bad file: enormous shapes", "[train]") {
  constexpr hsize_t fifty_million = 50'000'000;
  CHECK_THAT(error_of_weight([](const Maker& maker, const std::string& weight) {
               maker.create(weight, {fifty_million, fifty_million}, H5T_NATIVE_FLOAT,
                            chunked({1000, 1000}));
             }),
             Catch::Contains("weight: expected [3, 4], got [50000000, 50000000]"));
  CHECK_THAT(error_of_weight([](const Maker& maker, const std::string& weight) {
               maker.create(weight, {1 << 15, 1 << 15});
             }),
             Catch::Contains("weight: expected [3, 4], got [32768, 32768]"));
  CHECK_THAT(error_of_weight([](const Maker& maker, const std::string& weight) {
               constexpr hsize_t large = hsize_t{1} << 40;
               maker.create(weight, {large, large}, H5T_NATIVE_FLOAT, chunked({1000, 1000}));
             }),
             Catch::Contains("/weight: shape: expected at most 2^56 elements"));
  CHECK_THAT(error_of_weight([](const Maker& maker, const std::string& weight) {
               maker.write(weight, {1, 1, 1, 1, 1, 3, 4});
             }),
             Catch::Contains("/weight: expected at most 6 axes, got 7"));
}

TEST_CASE("bad file: data that were not written, or not all", "[train]") {
  CHECK_THAT(error_of_weight([](const Maker& maker, const std::string& weight) {
               maker.create(weight, {3, 4});
             }),
             Catch::Contains("/weight: expected data, got a dataset that was never written"));
  CHECK_THAT(error_of_weight([](const Maker& maker, const std::string& weight) {
               maker.create(weight, {3, 4}, H5T_NATIVE_FLOAT, chunked({2, 2}));
             }),
             Catch::Contains("/weight: expected all 4 chunks, got 0 that were written"));
  CHECK_THAT(
      error_of_weight([](const Maker& maker, const std::string& weight) {
        const Handle dataset = maker.create(weight, {3, 4}, H5T_NATIVE_FLOAT, chunked({2, 2}));
        const Handle space = space_of({3, 4});
        const hsize_t start[2] = {0, 0}, count[2] = {3, 2};
        H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, count, nullptr);
        const float values[6] = {1, 2, 3, 4, 5, 6};
        H5Dwrite(dataset, H5T_NATIVE_FLOAT, space_of({6}), space, H5P_DEFAULT, values);
      }),
      Catch::Contains("/weight: expected all 4 chunks, got 2 that were written"));
  const BadFile declared([](const Maker& maker) { maker.create("x", {1 << 15, 1 << 15}); });
  CHECK_THAT(message_of<FileError>([&] { Hdf5File(declared.path).tensor<float>("x"); }),
             Catch::Contains("/x: expected data, got a dataset that was never written"));
}

TEST_CASE("bad file: other types than floating-point numbers", "[train]") {
  const auto error_of_type = [](hid_t type) {
    return error_of_weight([type](const Maker& maker, const std::string& weight) {
      maker.write(weight, {3, 4}, type);
    });
  };
  const std::string expected = "of another type (1): weight: expected floating-point numbers, got ";
  CHECK_THAT(error_of_type(H5T_STD_I32LE), Catch::Contains(expected + "int32"));
  CHECK_THAT(error_of_type(H5T_STD_U16BE), Catch::Contains(expected + "big-endian uint16"));
  CHECK_THAT(error_of_type(H5T_C_S1), Catch::Contains(expected + "string"));
  CHECK_THAT(error_of_type(H5T_STD_REF_OBJ), Catch::Contains(expected + "reference"));
  const Handle compound(H5Tcreate(H5T_COMPOUND, 8));
  H5Tinsert(compound, "real", 0, H5T_NATIVE_FLOAT);
  H5Tinsert(compound, "imaginary", 4, H5T_NATIVE_FLOAT);
  CHECK_THAT(error_of_type(compound), Catch::Contains(expected + "compound"));
  const Handle odd(H5Tcopy(H5T_IEEE_F32LE));
  H5Tset_ebias(odd, 100);
  CHECK_THAT(error_of_type(odd), Catch::Contains(expected + "unusual float of 4 bytes"));
}

TEST_CASE("bad file: packed projections of other types and shapes", "[train]") {
  const auto error_of_packed = [](const std::function<void(const Maker&)>& make) {
    const BadFile file([&](const Maker& maker) {
      maker.write("in_proj_bias", {12});
      maker.write("out_proj.weight", {4, 4});
      maker.write("out_proj.bias", {4});
      make(maker);
    });
    Random random(1);
    return file.error(MultiHeadAttention<float>(
        {.query_size = 4, .key_size = 4, .value_size = 4, .num_hiddens = 4, .bias = true}, random));
  };
  const auto error_of_shape = [&](const Sizes& sizes) {
    return error_of_packed([&](const Maker& maker) { maker.write("in_proj_weight", sizes); });
  };
  const std::string first = "W_q.weight (in_proj_weight, part 1 of 3): expected ";
  for (const auto& [sizes, shape] : {std::pair<Sizes, const char*>({11, 4}, "[11, 4]"),
                                     {{4, 12}, "[4, 12]"},
                                     {{4, 4}, "[4, 4]"},
                                     {{12}, "[12]"},
                                     {{12, 4, 1}, "[12, 4, 1]"},
                                     {{}, "[]"}})
    CHECK_THAT(
        error_of_shape(sizes),
        Catch::Contains(concatenate_text("of another shape (3): ", first, "[12, 4], got ", shape)));
  CHECK_THAT(
      error_of_packed([](const Maker& maker) {
        maker.write("in_proj_weight", {12, 4}, H5T_STD_I32LE);
      }),
      Catch::Contains("of another type (3): " + first + "floating-point numbers, got int32"));
  CHECK_THAT(error_of_packed([](const Maker& maker) {
               maker.create("in_proj_weight", {hsize_t{3} << 30, 1 << 20}, H5T_NATIVE_FLOAT,
                            chunked({1000, 1000}));
             }),
             Catch::Contains(first + "[12, 4], got [3221225472, 1048576]"));
  CHECK_THAT(
      error_of_packed([](const Maker& maker) {
        maker.create("in_proj_weight", {12, 4});
      }),
      Catch::Contains("/in_proj_weight: expected data, got a dataset that was never written"));
}

TEST_CASE("bad file: null and scalar dataspaces", "[train]") {
  CHECK_THAT(
      error_of_weight([](const Maker& maker, const std::string& weight) {
        Handle(H5Dcreate2(maker.file, weight.c_str(), H5T_NATIVE_FLOAT, Handle(H5Screate(H5S_NULL)),
                          H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
      }),
      Catch::Contains("/weight: expected elements, got a null dataspace"));
  CHECK_THAT(error_of_weight([](const Maker& maker, const std::string& weight) {
               const float value = 1.0f;
               const Handle dataset(H5Dcreate2(maker.file, weight.c_str(), H5T_NATIVE_FLOAT,
                                               Handle(H5Screate(H5S_SCALAR)), H5P_DEFAULT,
                                               H5P_DEFAULT, H5P_DEFAULT));
               H5Dwrite(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value);
             }),
             Catch::Contains("weight: expected [3, 4], got []"));
}

TEST_CASE("bad file: a group or another object instead of a dataset", "[train]") {
  CHECK_THAT(error_of_weight([](const Maker& maker, const std::string& weight) {
               maker.write("group/../" + weight, {3, 4});
               maker.group(weight);
             }),
             Catch::Contains("missing"));
  const BadFile file([](const Maker& maker) { maker.group("weight"); });
  CHECK_THAT(message_of<FileError>([&] { Hdf5File(file.path).tensor<float>("weight"); }),
             Catch::Contains("/weight: expected a dataset, got a group"));
  CHECK_THAT(error_of_weight([](const Maker& maker, const std::string& weight) {
               const Handle type(H5Tcopy(H5T_NATIVE_FLOAT));
               H5Tcommit2(maker.file, weight.c_str(), type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
             }),
             Catch::Contains("/weight: expected a group or a dataset, got an object of another"));
}

TEST_CASE("bad file: invalid names", "[train]") {
  const auto error_of_name = [](const std::string& name) {
    return error_of([&](const Maker& maker) { maker.write(name, {3}); });
  };
  CHECK_THAT(error_of_name(".."), Catch::Contains("that are not paths, got '..'"));
  CHECK_THAT(error_of_name("a\nb\x1b[2J"),
             Catch::Contains("that are not paths, got 'a\\x0ab\\x1b[2J'"));
  CHECK_THAT(error_of_name(std::string(60'000, 'n')),
             Catch::Contains("expected names of at most 1024 bytes, got a longer one"));

  // A NUL ends a name, so what was "weightX" is "weight" a second time.
  const BadFile file([](const Maker& maker) {
    maker.write("weight", {3, 4});
    maker.write("weightX", {3, 4});
  });
  std::string bytes = bytes_of(file.path);
  const std::size_t name = bytes.find("weightX");
  REQUIRE(name != std::string::npos);
  bytes[name + 6] = '\0';
  write_bytes(file.path, bytes);
  CHECK_THAT(file.error(), Catch::Contains("expected distinct names, got 'weight' twice"));
}

TEST_CASE("bad file: too many objects, or too deeply nested", "[train]") {
  CHECK_THAT(error_of([](const Maker& maker) {
               for (std::size_t i = 0; i <= Hdf5File::max_objects; ++i)
                 H5Lcreate_soft("x", maker.file, std::to_string(i).c_str(), H5P_DEFAULT,
                                H5P_DEFAULT);
             }),
             Catch::Contains("expected at most 32768 objects, got more"));
  CHECK_THAT(error_of([](const Maker& maker) {
               std::string path = "g";
               for (int i = 0; i < 100; ++i, path += "/g") maker.group(path);
             }),
             Catch::Contains("expected groups at most 32 deep, got deeper"));
}

TEST_CASE("bad file: an enormous attribute", "[train]") {
  const BadFile file(
      [](const Maker& maker) {
        const std::vector<char> values(20'000'000);
        const Handle attribute(H5Acreate2(maker.file, "large", H5T_NATIVE_CHAR,
                                          space_of({values.size()}), H5P_DEFAULT, H5P_DEFAULT));
        H5Awrite(attribute, H5T_NATIVE_CHAR, values.data());
        maker.write("weight", {3, 4});
        maker.write("bias", {3});
      },
      true);
  Affine<float> model({3, 4}, {3});
  CHECK(load_weights(file.path, model).loaded.size() == 2);
  CHECK_THAT(message_of<FileError>([&] { Hdf5File(file.path).has_attribute("/", "large"); }),
             Catch::Contains("got an attribute of more than 64 KiB"));
  CHECK_FALSE(Hdf5File(file.path).has_attribute("/weight", "large"));
}

}  // namespace weft
