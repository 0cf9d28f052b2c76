// Numbers in a file's structure that contradict others.
#include <cstring>
#include <functional>
#include <string>

#include <weft/autograd/error.hpp>
#include <weft/train/files/hdf5/hdf5_file.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/file_bytes.hpp"
#include "tests/train/temporary_folder.hpp"
#include "train/files/hdf5/internal/elements.hpp"
#include "train/files/hdf5/internal/library.hpp"

namespace weft {
namespace {

using hdf5::Handle;

constexpr hsize_t count = 100;

// A file with the dataset "x" of 100 floats, which `write` may create in its own way.
struct Written {
  TemporaryFolder folder;
  std::filesystem::path path = folder / "file.h5";

  // The dataset's properties, and what else is in the file.
  explicit Written(const std::function<void(hid_t properties)>& set,
                   const std::function<void(hid_t file)>& add = {}, bool has_data = true) {
    const hdf5::LibraryLock silent;
    const Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
    const Handle properties(H5Pcreate(H5P_DATASET_CREATE));
    set(properties);
    const Handle space(H5Screate_simple(1, &count, nullptr));
    const Handle dataset(
        H5Dcreate2(file, "x", H5T_NATIVE_FLOAT, space, H5P_DEFAULT, properties, H5P_DEFAULT));
    const std::vector<float> ones(count, 1.0f);
    if (has_data) H5Dwrite(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, ones.data());
    if (add) add(file);
  }

  std::string error() const {
    return message_of<FileError>([&] { (void)Hdf5File(path).dataset("x").tensor<float>(); });
  }
  // Replaces these bytes, wherever they are.
  void replace(const std::string& old_bytes, const std::string& new_bytes) const {
    std::string bytes = bytes_of(path);
    std::size_t at = bytes.find(old_bytes);
    REQUIRE(at != bytes.npos);
    for (; at != bytes.npos; at = bytes.find(old_bytes, at + 1))
      bytes.replace(at, old_bytes.size(), new_bytes);
    write_bytes(path, bytes);
  }
};

template <class Number>
std::string bytes_of_number(Number number) {
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

}  // namespace

TEST_CASE("hdf5 damage: contiguous data of another size than the shape's", "[train]") {
  // Other data follow, so that the file does not end before a larger size.
  const auto add = [](hid_t file) {
    const hsize_t others = 1000;
    const Handle space(H5Screate_simple(1, &others, nullptr));
    const Handle dataset(
        H5Dcreate2(file, "y", H5T_NATIVE_INT8, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    const std::vector<std::int8_t> ones(others, 1);
    H5Dwrite(dataset, H5T_NATIVE_INT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, ones.data());
  };
  const Written file([](hid_t) {}, add);
  REQUIRE(file.error().empty());
  for (const std::uint64_t size : {396u, 402u, 404u}) {
    const Written damaged([](hid_t) {}, add);
    damaged.replace(bytes_of_number(std::uint64_t{400}), bytes_of_number(size));
    CHECK(damaged.error().find("expected 100 elements of 4 bytes") != std::string::npos);
  }
}

TEST_CASE("hdf5 damage: a fill value of another size than the elements", "[train]") {
  const auto with_fill = [](hid_t properties) {
    const float value = 7.5f;
    H5Pset_fill_value(properties, H5T_NATIVE_FLOAT, &value);
  };
  const Written file(with_fill, {}, false);
  REQUIRE(file.error().empty());
  file.replace(bytes_of_number(std::uint32_t{4}) + bytes_of_number(7.5f),
               bytes_of_number(std::uint32_t{2}) + bytes_of_number(7.5f));
  CHECK_FALSE(file.error().empty());
}

TEST_CASE("hdf5 damage: the tree of a dataset is none of chunks", "[train]") {
  const auto in_chunks = [](hid_t properties) {
    const hsize_t chunk = 10;
    H5Pset_chunk(properties, 1, &chunk);
  };
  const Written file(in_chunks);
  REQUIRE(file.error().empty());
  file.replace(std::string("TREE\1", 5), std::string("TREE\0", 5));
  CHECK_FALSE(file.error().empty());
}

TEST_CASE("hdf5 damage: a string of another length than its heap says", "[train]") {
  const std::string text = "a text of twenty-five byte";
  const auto add = [&](hid_t file) {
    const Handle type(H5Tcopy(H5T_C_S1));
    H5Tset_size(type, H5T_VARIABLE);
    const Handle space(H5Screate(H5S_SCALAR));
    const Handle attribute(H5Acreate2(file, "text", type, space, H5P_DEFAULT, H5P_DEFAULT));
    const char* value = text.c_str();
    H5Awrite(attribute, type, &value);
  };
  const Written file([](hid_t) {}, add);
  const auto read = [&] { return Hdf5File(file.path).attribute<std::string>("/", "text"); };
  REQUIRE(read() == text);
  const std::string bytes = bytes_of(file.path);
  const std::size_t at = bytes.find(text);
  REQUIRE(at != bytes.npos);
  std::uint64_t size = 0;
  std::memcpy(&size, bytes.data() + at - sizeof size, sizeof size);
  file.replace(bytes_of_number(size) + text, bytes_of_number(size + 1) + text);
  CHECK(message_of<FileError>(read).find("a string of the wrong length") != std::string::npos);
}

TEST_CASE("hdf5 damage: data in another file are not read", "[train]") {
  const TemporaryFolder folder;
  write_bytes(folder / "data", std::string(400, '\0'));
  const Written file(
      [&](hid_t properties) { H5Pset_external(properties, (folder / "data").c_str(), 0, 400); });
  CHECK(file.error().find("a dataset with its data in another file") != std::string::npos);
}

TEST_CASE("hdf5 damage: an enumeration with other names is not bool", "[train]") {
  for (const char* second : {"TRUE", "YES"}) {
    const Written file([](hid_t) {},
                       [&](hid_t all) {
                         const Handle type(H5Tenum_create(H5T_NATIVE_INT8));
                         const std::int8_t zero = 0, one = 1;
                         H5Tenum_insert(type, "FALSE", &zero);
                         H5Tenum_insert(type, second, &one);
                         const Handle space(H5Screate_simple(1, &count, nullptr));
                         const Handle dataset(H5Dcreate2(all, "flags", type, space, H5P_DEFAULT,
                                                         H5P_DEFAULT, H5P_DEFAULT));
                         const std::vector<std::int8_t> ones(count, 1);
                         H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, ones.data());
                       });
    CHECK(Hdf5File(file.path).dataset("flags").type() ==
          (second == std::string("TRUE") ? "bool" : "enumeration"));
  }
}

TEST_CASE("hdf5 damage: the limit of an axis is below its size", "[train]") {
  const auto extent = [](std::uint64_t limit) {
    const std::string message =
        std::string("\2\1\1\1", 4) + bytes_of_number(std::uint64_t{5}) + bytes_of_number(limit);
    return hdf5::read_extent(hdf5::Cursor(std::as_bytes(std::span(message)))).limits[0];
  };
  CHECK(extent(5) == 5);
  CHECK(extent(9) == 9);
  CHECK_THROWS_AS(extent(4), hdf5::StructureError);
}

}  // namespace weft
