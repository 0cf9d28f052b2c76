#include "train/hdf5/internal/filters.hpp"

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

// The message of filters with these numbers, in its second version; shuffle has elements of 4
// bytes.
Filters filters_of(std::initializer_list<int> ids) {
  std::vector<std::byte> message = bytes_of({2, static_cast<int>(ids.size())});
  for (const int id : ids)
    for (const std::byte byte : bytes_of({id, 0, 0, 0, 1, 0, id == 2 ? 4 : 0, 0, 0, 0}))
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

constexpr int deflate_id = 1, shuffle_id = 2;
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

TEST_CASE("hdf5 filters: each stands once", "[train]") {
  CHECK_THROWS_AS(filters_of({deflate_id, deflate_id}), StructureError);
  CHECK_THROWS_AS(filters_of({4}), StructureError);
  CHECK(filters_of({}).empty());
}
