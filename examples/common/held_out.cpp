#include "examples/common/held_out.hpp"

#include <cstdint>

namespace weft::examples {

Split split_of(std::string_view key) {
  std::uint64_t hash = 0xCBF29CE484222325;  // FNV-1a's
  for (const char byte : key) hash = (hash ^ static_cast<std::uint8_t>(byte)) * 0x100000001B3;
  const std::uint64_t percent = hash % 100;
  return percent < 90 ? Split::train : percent < 95 ? Split::validation : Split::test;
}

}  // namespace weft::examples
