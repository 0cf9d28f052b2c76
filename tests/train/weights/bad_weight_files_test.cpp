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
#include <weft/train/files/hdf5/hdf5_file.hpp>
#include <weft/train/files/safetensors/safetensors_file.hpp>
#include <weft/train/weights/weights.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/affine.hpp"
#include "tests/train/file_bytes.hpp"
#include "tests/train/temporary_folder.hpp"
#include "tests/train/weights/bad_file.hpp"

namespace weft {
namespace {

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
  return message_of<FileError>([&] { (void)open_tensor_file(path); });
}

}  // namespace

TEST_CASE("bad file: not a regular file", "[train]") {
  const TemporaryFolder folder;
  CHECK_THAT(error_of_opening(folder / "none.h5"), Catch::Contains("none.h5\": No such file"));
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
  for (const std::string end : {"h5", "safetensors"}) {
    const std::filesystem::path other = folder / ("other." + end);
    write_bytes(other, "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 9\n");
    CHECK_THAT(error_of_opening(other),
               Catch::Contains("file, got a Git LFS pointer, not the file itself"));
    // A zip archive begins with the name of its first file, of 16 characters here.
    const auto zip = [](const std::string& name) {
      return "PK\3\4" + std::string(22, '\0') + "\x10" + std::string(3, '\0') + name +
             std::string(60, '\0');
    };
    const auto error_of = [&](const std::string& bytes) {
      write_bytes(other, bytes);
      return error_of_opening(other);
    };
    CHECK_THAT(error_of(zip("archive/data.pkl")),
               Catch::Contains("file, got a PyTorch file (in Python, convert it with "
                               "safetensors.torch.save_file("));
    CHECK_THAT(error_of("\x80\2\x8a\nl\xfc\x9c\x46" + std::string(60, '\0')),
               Catch::Contains("file, got a PyTorch file (in"));
    CHECK_THAT(error_of(zip("long_weights.npy")),
               Catch::Contains("file, got a NumPy archive (in Python, convert it with "
                               "safetensors.numpy.save_file("));
    CHECK_THAT(error_of(zip("metadataaaa.json")),
               Catch::Contains("file, got a Keras archive (open it with load_keras)"));
    CHECK_THAT(error_of(zip("photographs.jpeg")), Catch::Contains("file, got a zip archive"));
    CHECK_THAT(error_of("\x93NUMPY\1" + std::string(60, '\0')),
               Catch::Contains("file, got a NumPy array (in Python, write it with h5py"));
    CHECK_THAT(error_of("GGUF\3" + std::string(60, '\0')),
               Catch::Contains("file, got a GGUF file (use the Hugging Face model"));
    CHECK_THAT(error_of("\b\7\x12\7pytorch" + std::string(60, '\0')),
               Catch::Contains("file, got an ONNX model (use the PyTorch or Keras model"));
    // The size of a safetensors header may begin with the same bytes.
    CHECK_THAT(error_of("\b\7\x12" + std::string(5, '\0') + "{" + std::string(60, '\0')),
               !Catch::Contains("ONNX"));
  }
  std::filesystem::permissions(folder.path(), std::filesystem::perms{0755});
  std::filesystem::permissions(path, std::filesystem::perms::none);
  if (::geteuid() == 0) REQUIRE(::seteuid(65534) == 0);
  CHECK_THAT(error_of_opening(path), Catch::Contains("Permission denied"));
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
  CHECK_THAT(file.error(), Catch::Contains("a complete file, got a file that another process"));
  ::close(writer);
}

TEST_CASE("bad file: filters that are not built in", "[train]") {
  CHECK_THAT(
      error_of_weight([](const Maker& maker, const std::string& weight) {
        constexpr H5Z_filter_t zstandard = 32'015;
        const Handle properties = chunked({3, 4});
        H5Pset_filter(properties, zstandard, H5Z_FLAG_OPTIONAL, 0, nullptr);
        maker.write(weight, {3, 4}, H5T_NATIVE_FLOAT, properties);
      }),
      Catch::Contains("expected no filters except deflate, shuffle, fletcher32 and LZF, each once, "
                      "got Zstandard (filter 32015) at position 0"));
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
             Catch::Contains("/weight: expected chunks of 48 bytes, got a larger chunk"));
  CHECK_THAT(error_of_chunk(compressed_zeros(5'000'000)),
             Catch::Contains("/weight: expected chunks of 48 bytes, got a chunk of"));
  CHECK_THAT(error_of_chunk(compressed_zeros(47)),
             Catch::Contains("/weight: expected chunks of 48 bytes, got a smaller chunk"));
  CHECK_THAT(error_of_chunk("this is no compressed text"),
             Catch::Contains("/weight: expected chunks of 48 bytes, got a smaller chunk"));
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
  const auto never_filled = [](Handle properties) {
    H5Pset_fill_time(properties, H5D_FILL_TIME_NEVER);
    return properties;
  };
  const auto expected = Catch::EndsWith(
      "/weight: expected stored data, got a dataset that was never written, or only in part");
  CHECK_THAT(error_of_weight([&](const Maker& maker, const std::string& weight) {
               maker.create(weight, {3, 4}, H5T_NATIVE_FLOAT,
                            never_filled(Handle(H5Pcreate(H5P_DATASET_CREATE))));
             }),
             expected);
  CHECK_THAT(error_of_weight([&](const Maker& maker, const std::string& weight) {
               maker.create(weight, {3, 4}, H5T_NATIVE_FLOAT, never_filled(chunked({2, 2})));
             }),
             expected);
  CHECK_THAT(error_of_weight([&](const Maker& maker, const std::string& weight) {
               const Handle dataset =
                   maker.create(weight, {3, 4}, H5T_NATIVE_FLOAT, never_filled(chunked({2, 2})));
               const Handle space = space_of({3, 4});
               const hsize_t start[2] = {0, 0}, count[2] = {3, 2};
               H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, count, nullptr);
               const float values[6] = {1, 2, 3, 4, 5, 6};
               H5Dwrite(dataset, H5T_NATIVE_FLOAT, space_of({6}), space, H5P_DEFAULT, values);
             }),
             expected);
  const BadFile declared([](const Maker& maker) { maker.create("x", {1 << 15, 1 << 15}); });
  CHECK_THAT(message_of<FileError>([&] { Hdf5File(declared.path).tensor<float>("x"); }),
             Catch::EndsWith("/x: expected at most 268435456 bytes that were never written, got "
                             "1073741824 elements of 4 bytes"));
}

TEST_CASE("bad file: other types than floating-point numbers", "[train]") {
  const auto error_of_type = [](hid_t type) {
    return error_of_weight([type](const Maker& maker, const std::string& weight) {
      maker.write(weight, {3, 4}, type);
    });
  };
  const std::string expected = "different type (1): weight: expected floating-point numbers, got ";
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
    CHECK_THAT(error_of_shape(sizes),
               Catch::Contains(str_cat("different shape (3): ", first, "[12, 4], got ", shape)));
  CHECK_THAT(error_of_packed([](const Maker& maker) {
               maker.write("in_proj_weight", {12, 4}, H5T_STD_I32LE);
             }),
             Catch::Contains("different type (3): " + first + "floating-point numbers, got int32"));
  CHECK_THAT(error_of_packed([](const Maker& maker) {
               maker.create("in_proj_weight", {hsize_t{3} << 30, 1 << 20}, H5T_NATIVE_FLOAT,
                            chunked({1000, 1000}));
             }),
             Catch::Contains(first + "[12, 4], got [3221225472, 1048576]"));
  CHECK_THAT(error_of_packed([](const Maker& maker) {
               const Handle properties = chunked({12, 4});
               H5Pset_fill_time(properties, H5D_FILL_TIME_NEVER);
               maker.create("in_proj_weight", {12, 4}, H5T_NATIVE_FLOAT, properties);
             }),
             Catch::Contains(
                 "/in_proj_weight: expected stored data, got a dataset that was never written"));
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
