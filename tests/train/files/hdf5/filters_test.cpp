#include "train/files/hdf5/internal/filters.hpp"

#include <zlib.h>

#include <cstddef>
#include <initializer_list>
#include <vector>

#include <weft/autograd/error.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"

using namespace weft;
using namespace weft::hdf5;

namespace {

std::vector<std::byte> bytes_of(std::initializer_list<int> numbers) {
  std::vector<std::byte> bytes;
  for (const int number : numbers) bytes.push_back(static_cast<std::byte>(number));
  return bytes;
}

constexpr int deflate_id = 1, shuffle_id = 2, checksum_id = 3, lzf_id = 32000;

// The message of filters with these numbers, in its second version; shuffle has elements of 4
// bytes.
Filters filters_of(std::initializer_list<int> ids) {
  std::vector<std::byte> message = bytes_of({2, static_cast<int>(ids.size())});
  for (const int id : ids)
    for (const std::byte byte :
         id < 256 ? bytes_of({id, 0, 0, 0, 1, 0, id == shuffle_id ? 4 : 0, 0, 0, 0})
                  : bytes_of({id % 256, id / 256, 4, 0, 0, 0, 0, 0, 'l', 'z', 'f', 0}))  // a name
      message.push_back(byte);
  return Filters(Cursor(std::move(message)));
}

std::vector<std::byte> deflated(const std::vector<std::byte>& bytes) {
  uLongf size = ::compressBound(bytes.size());
  std::vector<std::byte> result(size);
  REQUIRE(::compress(reinterpret_cast<Bytef*>(result.data()), &size,
                     reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()) == Z_OK);
  result.resize(size);
  return result;
}

// Elements 1, 2, 3, 4 and 5, 6, 7, 8, and these shuffled.
const std::vector<std::byte> elements = bytes_of({1, 2, 3, 4, 5, 6, 7, 8}),
                             shuffled = bytes_of({1, 5, 2, 6, 3, 7, 4, 8});

}  // namespace

TEST_CASE("hdf5 filters: are undone from the last to the first, but for skipped ones", "[train]") {
  const Filters filters = filters_of({shuffle_id, deflate_id});
  CHECK(filters.undo(deflated(shuffled), 0, 8) == elements);
  CHECK(filters.undo(shuffled, 0b10, 8) == elements);
  CHECK(filters.undo(deflated(shuffled), 0b01, 8) == shuffled);
  CHECK(filters.undo(shuffled, 0b11, 8) == shuffled);
}

TEST_CASE("hdf5 filters: a chunk has the size of its elements", "[train]") {
  const Filters filters = filters_of({deflate_id});
  for (const std::uint64_t size : {7u, 9u})
    CHECK_THROWS_AS(filters.undo(deflated(elements), 0, size), StructureError);
  std::vector<std::byte> cut = deflated(elements);
  cut.resize(cut.size() - 5);
  CHECK_THROWS_AS(filters.undo(cut, 0, 8), StructureError);
  CHECK_THROWS_AS(Filters().undo(elements, 0, 7), StructureError);
}

TEST_CASE("hdf5 filters: LZF has literal bytes and copies of earlier ones", "[train]") {
  const Filters filters = filters_of({lzf_id});
  const auto expanded = [&](std::initializer_list<int> bytes, std::uint64_t size) {
    return filters.undo(bytes_of(bytes), 0, size);
  };
  // 3 literal bytes; 3 bytes from 3 before; 1 literal byte; 9 + 3 bytes from 1 before.
  CHECK(expanded({2, 7, 8, 9, 1 << 5, 2, 0, 5, 7 << 5, 3, 0}, 19) ==
        bytes_of({7, 8, 9, 7, 8, 9, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5}));
  // The longest run and the farthest copy: 2^13 bytes back.
  std::vector<std::byte> far, expected;
  for (int run = 0; run < 256; ++run) {
    far.push_back(std::byte{31});
    for (int i = 0; i < 32; ++i) far.push_back(static_cast<std::byte>(run));
    expected.insert(expected.end(), 32, static_cast<std::byte>(run));
  }
  for (const int byte : {(7 << 5) | 31, 255, 255}) far.push_back(static_cast<std::byte>(byte));
  expected.insert(expected.end(), expected.begin(), expected.begin() + 264);
  CHECK(filters.undo(far, 0, expected.size()) == expected);
  CHECK(filters_of({shuffle_id, lzf_id}).undo(bytes_of({7, 1, 5, 2, 6, 3, 7, 4, 8}), 0, 8) ==
        elements);

  for (const std::uint64_t size : {18u, 20u})
    CHECK_THROWS_AS(expanded({2, 7, 8, 9, 1 << 5, 2, 0, 5, 7 << 5, 3, 0}, size), StructureError);
  for (const auto& damaged :
       {bytes_of({2, 7, 8}), bytes_of({0, 7, 1 << 5}), bytes_of({0, 7, 7 << 5, 1}),
        bytes_of({0, 7, 1 << 5, 1}), bytes_of({1 << 5, 0}), bytes_of({})})
    CHECK_THROWS_AS(filters.undo(damaged, 0, 4), StructureError);
  // The 8 bytes should be followed by 4 bytes of a checksum.
  CHECK_THAT(message_of<StructureError>([&] {
               filters_of({checksum_id, lzf_id}).undo(bytes_of({7, 1, 5, 2, 6, 3, 7, 4, 8}), 0, 8);
             }),
             Catch::Contains("expected chunks of 12 bytes, got a smaller chunk"));
}

TEST_CASE("hdf5 filters: each stands once, and others are refused by name", "[train]") {
  CHECK_THROWS_AS(filters_of({deflate_id, deflate_id}), StructureError);
  for (const auto& [id, name] : {std::pair(4, "szip (filter 4)"),
                                 {5, "nbit (filter 5)"},
                                 {6, "scale-offset (filter 6)"},
                                 {32001, "Blosc (filter 32001)"},
                                 {4000, "filter 4000"}})
    CHECK_THAT(message_of<StructureError>([filter = id] { filters_of({filter}); }),
               Catch::EndsWith(str_cat("got ", name, " at position 0")));
  CHECK(filters_of({}).empty());
}
