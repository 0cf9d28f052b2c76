// Files whose structures were changed by hand: opening or reading them throws, soon and without
// reading past anything.
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <weft/train/files/hdf5/hdf5_file.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/file_bytes.hpp"
#include "tests/train/temporary_folder.hpp"
#include "train/files/hdf5/internal/library.hpp"

namespace weft {
namespace {

using hdf5::Handle;
using Sizes = std::vector<hsize_t>;

// A file with the bytes of one that was written by the library.
struct Changed {
  std::shared_ptr<TemporaryFolder> folder = std::make_shared<TemporaryFolder>();
  std::filesystem::path path = *folder / "file.h5";
  std::string bytes;

  explicit Changed(const std::function<void(hid_t file)>& write, bool newest = false) {
    {
      const hdf5::LibraryLock silent;
      const Handle access(H5Pcreate(H5P_FILE_ACCESS));
      if (newest) H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
      write(Handle(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access)));
    }
    bytes = bytes_of(path);
  }

  // The position of a signature, which is there for the `count`-th time.
  std::size_t find(const std::string& signature, int count = 1) const {
    std::size_t at = bytes.find(signature);
    for (int i = 1; i < count; ++i) at = bytes.find(signature, at + 1);
    REQUIRE(at != std::string::npos);
    return at;
  }
  template <class Number>
  void set(std::size_t at, Number number) {
    std::memcpy(bytes.data() + at, &number, sizeof number);
  }
  template <class Number>
  Number get(std::size_t at) const {
    Number number;
    std::memcpy(&number, bytes.data() + at, sizeof number);
    return number;
  }

  // The message on listing and reading everything.
  std::string error() const {
    write_bytes(path, bytes);
    return read_error();
  }
  std::string read_error() const {
    return message_of<FileError>([&] {
      const Hdf5File file(path);
      for (const std::string& name : file.datasets()) file.tensor<float>(name);
    });
  }
};

void write(hid_t file, const std::string& name, const Sizes& sizes, hid_t properties = H5P_DEFAULT,
           float value = 1.0f, const Sizes& limits = {}) {
  std::size_t count = 1;
  for (const hsize_t size : sizes) count *= size;
  const std::vector<float> values(count, value);
  const Handle space(H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(),
                                      limits.empty() ? nullptr : limits.data()));
  const Handle dataset(H5Dcreate2(file, name.c_str(), H5T_NATIVE_FLOAT, space, H5P_DEFAULT,
                                  properties, H5P_DEFAULT));
  H5Dwrite(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
}

Handle chunks_of(const Sizes& chunk) {
  Handle properties(H5Pcreate(H5P_DATASET_CREATE));
  H5Pset_chunk(properties, static_cast<int>(chunk.size()), chunk.data());
  return properties;
}

const auto damaged = Catch::Contains("expected an intact HDF5 file, got ");
constexpr std::uint64_t node_header = 24;

Changed many_links() {
  return Changed([](hid_t file) {
    for (int i = 0; i < 1000; ++i) write(file, "dataset " + std::to_string(i), {1});
  });
}

Changed chunks() {
  return Changed([](hid_t file) { write(file, "x", {100, 100}, chunks_of({3, 3})); });
}

}  // namespace

TEST_CASE("hostile file: a chunk without filters that is shorter than its shape", "[train]") {
  for (const bool newest : {false, true}) {
    const Changed file(
        [](hid_t out) {
          const Handle properties = chunks_of({64, 64});
          const hsize_t sizes[2] = {64, 64}, offset[2] = {0, 0};
          const Handle space(H5Screate_simple(2, sizes, nullptr));
          const Handle dataset(
              H5Dcreate2(out, "x", H5T_NATIVE_FLOAT, space, H5P_DEFAULT, properties, H5P_DEFAULT));
          const std::vector<char> few(100, 'x');
          H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, offset, few.size(), few.data());
        },
        newest);
    // In the newest format, a chunk without filters has no size of its own.
    CHECK_THAT(
        file.error(),
        Catch::Contains("/x: expected chunks of 16384 bytes, got a chunk of 100 bytes") || damaged);
  }
}

TEST_CASE("hostile file: trees that contain themselves", "[train]") {
  for (Changed file : {many_links(), chunks()}) {
    CHECK(file.error() == "");
    int refused = 0;
    const std::size_t root =
        file.find(file.bytes.find("SNOD") < file.bytes.size() ? "TREE" : "TREE");
    // Each tree in the file in turn: all children become the node itself, one level below or not.
    for (std::size_t node = root; node != std::string::npos;
         node = file.bytes.find("TREE", node + 1)) {
      for (const int level : {0, 1, 2, 30, 200, 255}) {
        Changed changed = file;
        const bool is_group = changed.bytes[node + 4] == 0;
        const std::size_t key = is_group ? 8 : 32;
        const auto entries = changed.get<std::uint16_t>(node + 6);
        changed.bytes[node + 5] = static_cast<char>(level);
        for (std::size_t i = 0; i < entries; ++i)
          changed.set(node + node_header + key + i * (key + 8), std::uint64_t{node});
        // Some nodes are left from when the tree was smaller.
        const std::string error = changed.error();
        if (error.empty()) continue;
        CHECK_THAT(error, damaged);
        ++refused;
      }
    }
    CHECK(refused >= 6);
  }
}

TEST_CASE("hostile file: a node with more children than the file has bytes", "[train]") {
  Changed file = chunks();
  const std::size_t node = file.find("TREE", 2);
  file.set(node + 6, std::uint16_t{0xFFFF});
  CHECK_THAT(file.error(), Catch::Contains("/x: ") && Catch::Contains("expected "));
}

TEST_CASE("hostile file: the same symbols a million times", "[train]") {
  // Every entry of the tree leads to the same node.
  Changed file = many_links();
  const std::size_t node = file.find("TREE");
  const auto entries = file.get<std::uint16_t>(node + 6);
  const auto child = file.get<std::uint64_t>(node + node_header + 8);
  for (std::size_t i = 0; i < entries; ++i) file.set(node + node_header + 8 + 16 * i, child);
  CHECK_THAT(file.error(), Catch::Contains("expected distinct names") || damaged);
}

TEST_CASE("hostile file: data past the end of the file", "[train]") {
  const Changed file([](hid_t out) { write(out, "x", {1000}); });
  // The layout message: version 3, class 1 (contiguous), an address and a size of 4000 bytes.
  const std::uint64_t size = 4000;
  const std::size_t at =
      file.find(std::string(reinterpret_cast<const char*>(&size), sizeof size)) - 8;
  REQUIRE(file.bytes.substr(at - 2, 2) == std::string("\3\1", 2));
  const std::uint64_t end = file.bytes.size();
  for (const std::uint64_t address :
       {std::uint64_t{0}, end, end - 3999, end + 1, end - 1, std::uint64_t{1} << 63,
        std::numeric_limits<std::uint64_t>::max() - 1}) {
    Changed changed = file;
    changed.set(at, address);
    CHECK_THAT(changed.error(), Catch::Contains("/x: expected 1000 elements of 4 bytes"));
  }
  for (const std::uint64_t other :
       {std::uint64_t{3999}, std::uint64_t{4004}, std::uint64_t{0}, std::uint64_t{1} << 62}) {
    Changed changed = file;
    changed.set(at + 8, other);
    CHECK_THAT(changed.error(), Catch::Contains("/x: expected 1000 elements of 4 bytes"));
  }
}

TEST_CASE("hostile file: a chunk outside the file, or twice", "[train]") {
  const Changed file = chunks();
  const std::size_t node = file.find("TREE", 3);
  REQUIRE(file.bytes[node + 5] == 0);
  const std::size_t first = node + node_header, entry = 40;
  // At address 0 is the superblock.
  for (const std::uint64_t address :
       {std::uint64_t{0}, std::uint64_t{file.bytes.size()}, std::uint64_t{1} << 60}) {
    Changed changed = file;
    changed.set(first + 32, address);
    CHECK_THAT(changed.error(), damaged);
  }
  Changed twice = file;
  twice.bytes.replace(first, entry, file.bytes.substr(first + entry, entry));
  CHECK_THAT(twice.error(), Catch::Contains("got a chunk that is stored twice"));
  Changed between = file;
  between.set(first + 8, std::uint64_t{1});
  CHECK_THAT(between.error(), Catch::Contains("got a chunk that is not aligned to the grid"));
}

TEST_CASE("hostile file: an object header that continues in itself", "[train]") {
  Changed file([](hid_t out) {
    write(out, "x", {1});
    // Attributes make the header of the root continue elsewhere.
    const Handle scalar(H5Screate(H5S_SCALAR));
    for (int i = 0; i < 20; ++i)
      Handle(H5Acreate2(out, std::to_string(i).c_str(), H5T_NATIVE_INT, scalar, H5P_DEFAULT,
                        H5P_DEFAULT));
  });
  // The message of type 16 and size 16 with the address and the size of the next block.
  const std::size_t message = file.find(std::string("\x10\0\x10\0", 4));
  const auto block = file.get<std::uint64_t>(message + 8);
  const auto size = file.get<std::uint64_t>(message + 16);
  // The block begins with another message that continues in the block.
  file.set(block, file.get<std::uint64_t>(message));
  file.set(block + 8, block);
  file.set(block + 16, size);
  CHECK_THAT(file.error(),
             Catch::Contains("expected at most 1048576 bytes of structure, got more"));
}

TEST_CASE("hostile file: a type that is stored in the dataset itself", "[train]") {
  Changed file([](hid_t out) { write(out, "x", {1000}); });
  // The message of the type (3) of a float: marked as one that is shared.
  const std::size_t type = file.find(std::string("\x11\x20\x1F\0\4\0\0\0", 8));
  file.bytes[type - 4] = 2;
  const std::size_t reference = type;
  CHECK_THAT(file.error(), Catch::Contains("/x: expected HDF5 that weft can read") &&
                               Catch::Contains("that is shared"));
  // In the dataset: its address is behind the link's name in the symbols of the root.
  const auto header = file.get<std::uint64_t>(file.find("SNOD") + 8 + 8);
  file.bytes[reference] = 2;
  file.set(reference + 2, header);
  CHECK_THAT(file.error(),
             Catch::EndsWith("/x: expected a named type, got a different kind of object"));
  file.set(reference + 2, std::uint64_t{file.bytes.size()});
  CHECK_THAT(file.error(), damaged);
}

TEST_CASE("hostile file: many long names", "[train]") {
  const Changed file(
      [](hid_t out) {
        const Handle scalar(H5Screate(H5S_SCALAR));
        for (int i = 0; i < 20'000; ++i)
          Handle(H5Dcreate2(out, (std::to_string(i) + std::string(990, 'n')).c_str(),
                            H5T_NATIVE_FLOAT, scalar, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
      },
      true);
  CHECK_THAT(file.error(), Catch::Contains("/: expected at most 4194304 bytes of names, got more"));
  Changed heap = many_links();
  heap.set(heap.find("HEAP") + 8, std::uint64_t{20'000'000});
  CHECK_THAT(heap.error(),
             Catch::Contains("/: expected at most 4194304 bytes of names in a group"));
}

namespace {

// Everything that is in a file, as text.
std::string contents_of(const std::filesystem::path& path) {
  std::string text;
  const Hdf5File file(path);
  for (const std::string& name : file.datasets()) {
    text += str_cat(name, file.type(name), file.shape(name));
    if (file.type(name) == "string") {
      text += file.value<std::string>(name);
      continue;
    }
    const Tensor<float> values = file.tensor<float>(name);
    text.append(reinterpret_cast<const char*>(values.data()), values.values().size_bytes());
  }
  for (const auto& [group, attributes] : {std::pair("few", 1), std::pair("many", 12)})
    for (int i = 0; i < attributes && file.has_group(group); ++i)
      text += str_cat(' ', file.attribute<std::int64_t>(group, std::to_string(i)));
  return text;
}

// Changes one bit of every `step`-th byte outside the elements, one at a time. Returns how many
// changes were refused; with the others, the contents have to stay.
int refused_changes(const Changed& file, std::size_t step) {
  const std::string expected = contents_of(file.path);
  std::fstream stored(file.path, std::ios::binary | std::ios::in | std::ios::out);
  const auto put = [&](std::size_t at, int byte) {
    stored.seekp(static_cast<std::streamoff>(at));
    stored.put(static_cast<char>(byte)).flush();
  };
  int refused = 0;
  std::vector<std::size_t> other;  // positions of bytes with which other contents are read
  for (std::size_t at = 0; at < file.bytes.size(); at += step) {
    const std::size_t element = file.bytes.find("weft", at < 3 ? 0 : at - 3);
    if (element <= at) continue;
    put(at, file.bytes[at] ^ 1 << at % 8);
    try {
      if (contents_of(file.path) != expected) other.push_back(at);
    } catch (const FileError&) {
      ++refused;
    }
    put(at, file.bytes[at]);
  }
  CHECK(other == std::vector<std::size_t>{});
  return refused;
}

}  // namespace

TEST_CASE("hostile file: single bits of the newest structures", "[train]") {
  const float value = std::bit_cast<float>(std::array{'w', 'e', 'f', 't'});
  const Changed file(
      [value](hid_t out) {
        for (int i = 0; i < 40; ++i) write(out, std::to_string(i), {1}, H5P_DEFAULT, value);
        const Handle scalar(H5Screate(H5S_SCALAR));
        for (const auto& [name, attributes] : {std::pair("few", 1), std::pair("many", 12)}) {
          const Handle group(H5Gcreate2(out, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
          for (std::int64_t i = 0; i < attributes; ++i) {
            const Handle attribute(H5Acreate2(group, std::to_string(i).c_str(), H5T_STD_I64LE,
                                              scalar, H5P_DEFAULT, H5P_DEFAULT));
            H5Awrite(attribute, H5T_NATIVE_INT64, &i);
          }
        }
        const Handle text_type(H5Tcopy(H5T_C_S1));
        H5Tset_size(text_type, H5T_VARIABLE);
        const Handle text_dataset(
            H5Dcreate2(out, "text", text_type, scalar, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
        const char* const text = "weftweftweft";
        H5Dwrite(text_dataset, text_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &text);
        write(out, "one chunk", {3, 4}, chunks_of({3, 4}), value);
        write(out, "array", {3, 4}, chunks_of({2, 2}), value);
        write(out, "tree", {4, 4}, chunks_of({2, 2}), value, {H5S_UNLIMITED, H5S_UNLIMITED});
        write(out, "growing", {3, 50}, chunks_of({2, 1}), value, {4, H5S_UNLIMITED});
        H5Lcreate_soft("tree", out, "link", H5P_DEFAULT, H5P_DEFAULT);
        const Handle type(H5Tcopy(H5T_IEEE_F32LE)), filled(H5Pcreate(H5P_DATASET_CREATE));
        H5Tcommit2(out, "type", type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        H5Pset_fill_value(filled, type, &value);
        Handle(H5Dcreate2(out, "filled", type, scalar, H5P_DEFAULT, filled, H5P_DEFAULT));
      },
      true);
  CHECK(refused_changes(file, 1) > 5000);
  const Changed pages(
      [value](hid_t out) {
        write(out, "pages of chunks", {1100}, chunks_of({1}), value);
        write(out, "growing", {2, 2000}, chunks_of({1, 2}), value, {H5S_UNLIMITED, 200'000});
      },
      true);
  CHECK(refused_changes(pages, 47) > 100);
}

TEST_CASE("hostile file: every byte of the structure changed in turn", "[train]") {
  for (const bool newest : {false, true}) {
    const Changed file(
        [](hid_t out) {
          write(out, "x", {3, 4});
          const Handle properties = chunks_of({2, 2});
          H5Pset_shuffle(properties);
          H5Pset_deflate(properties, 6);
          H5Pset_fletcher32(properties);
          write(out, "y", {3, 4}, properties);
        },
        newest);
    REQUIRE(file.error() == "");
    std::fstream stored(file.path, std::ios::binary | std::ios::in | std::ios::out);
    std::size_t refused = 0;
    for (std::size_t at = 0; at < file.bytes.size(); ++at) {
      const char original = file.bytes[at];
      for (const int change : {0x01, 0x40, 0xFF}) {
        stored.seekp(static_cast<std::streamoff>(at));
        stored.put(static_cast<char>(original ^ change)).flush();
        if (!file.read_error().empty()) ++refused;
      }
      stored.seekp(static_cast<std::streamoff>(at));
      stored.put(original).flush();
    }
    CHECK(refused > 500);
  }
}

}  // namespace weft
