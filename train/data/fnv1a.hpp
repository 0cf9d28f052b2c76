// Fnv1a: a 64-bit hash of bytes that is the same on every machine and in every version.
#pragma once

#include <cstdint>
#include <string_view>

namespace weft {

// FNV-1a (Fowler, Noll and Vo): for splitting data and for recognizing it again, not for security.
class Fnv1a {
 public:
  void add(std::string_view bytes) {
    for (const char byte : bytes) add_byte(static_cast<std::uint8_t>(byte));
  }
  // The eight bytes of a number, the lowest first.
  void add(std::int64_t number) {
    for (int shift = 0; shift < 64; shift += 8)
      add_byte(static_cast<std::uint8_t>(static_cast<std::uint64_t>(number) >> shift));
  }
  std::uint64_t value() const { return value_; }

 private:
  void add_byte(std::uint8_t byte) { value_ = (value_ ^ byte) * 0x100000001B3; }

  std::uint64_t value_ = 0xCBF29CE484222325;
};

}  // namespace weft
