// Cursor: reads numbers and names from bytes, never past their end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "train/hdf5/internal/location.hpp"

namespace weft::hdf5 {

using Bytes = std::span<const std::byte>;

// An unsigned little-endian integer of at most 8 bytes.
std::uint64_t little_endian(Bytes bytes);

// All functions throw FileError, naming the location, where there are fewer bytes than they need.
class Cursor {
 public:
  // `location` must outlive the object.
  Cursor(Bytes bytes, const Location& location) : bytes_(bytes), location_(location) {}

  Bytes take(std::uint64_t size);
  void skip(std::uint64_t size) { take(size); }
  // An unsigned integer of 1 to 8 bytes.
  std::uint64_t number(std::size_t size) { return little_endian(take(size)); }
  unsigned byte() { return static_cast<unsigned>(number(1)); }
  unsigned short_number() { return static_cast<unsigned>(number(2)); }
  std::uint64_t address() { return number(8); }
  // A text that a zero byte ends.
  std::string_view text();
  // Throws unless the next bytes are these.
  void expect(std::string_view signature);

  Bytes rest() const { return bytes_; }
  const Location& location() const { return location_; }

 private:
  Bytes bytes_;
  const Location& location_;
};

// Throws FileError: the file's structure contradicts itself. `what` says which part of it.
[[noreturn]] void fail_with_damage(const Location& location, std::string_view what);
// The same for what is valid but not read: formats that no current program writes for weights.
[[noreturn]] void fail_unsupported(const Location& location, std::string_view what);

}  // namespace weft::hdf5
