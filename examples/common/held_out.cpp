#include "examples/common/held_out.hpp"

#include <cstdint>

#include <weft/autograd/error.hpp>

namespace weft::examples {

Split split_of(std::string_view key) {
  std::uint64_t hash = 14695981039346656037u;
  for (const char c : key) hash = (hash ^ static_cast<std::uint8_t>(c)) * 1099511628211u;
  const std::uint64_t percent = hash % 100;
  return percent < 90 ? Split::train : percent < 95 ? Split::validation : Split::test;
}

std::string to_string(Split split) {
  switch (split) {
    case Split::train:
      return "train";
    case Split::validation:
      return "validation";
    case Split::test:
      return "test";
  }
  return "";
}

Split parse_split(const std::string& name) {
  for (const Split split : {Split::train, Split::validation, Split::test})
    if (name == to_string(split)) return split;
  fail<ValueError>("split", "train, validation or test", "'" + name + "'");
}

}  // namespace weft::examples
