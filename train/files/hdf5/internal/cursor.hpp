// Cursor: reads numbers and names from bytes, never past their end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "train/files/hdf5/internal/location.hpp"

namespace weft::hdf5 {

using Bytes = std::span<const std::byte>;

// An unsigned little-endian integer of at most 8 bytes.
std::uint64_t little_endian(Bytes bytes);

// All functions throw StructureError where there are fewer bytes than they need.
class Cursor {
 public:
  // Bytes that outlive the object, or that it shares with its copies.
  explicit Cursor(Bytes bytes) : rest_(bytes) {}
  explicit Cursor(std::vector<std::byte>&& bytes)
      : owned_(std::make_shared<const std::vector<std::byte>>(std::move(bytes))), rest_(*owned_) {}

  // Valid as long as a copy of this object.
  Bytes take(std::uint64_t size);
  void skip(std::uint64_t size) { take(size); }
  // The next bytes as a structure of their own.
  Cursor part(std::uint64_t size);
  // An unsigned integer of 1 to 8 bytes.
  std::uint64_t number(std::size_t size) { return little_endian(take(size)); }
  unsigned byte() { return static_cast<unsigned>(number(1)); }
  unsigned short_number() { return static_cast<unsigned>(number(2)); }
  std::uint64_t address() { return number(8); }
  // A text that a zero byte ends, and one of a given size.
  std::string_view text();
  std::string_view text(std::uint64_t size);
  // Throws unless the next bytes are these.
  void expect(std::string_view signature);

  Bytes rest() const { return rest_; }

 private:
  std::shared_ptr<const std::vector<std::byte>> owned_;
  Bytes rest_;
};

}  // namespace weft::hdf5
