#include "examples/held_out.hpp"

#include <cstdint>

#include <weft/autograd/error.hpp>

namespace weft::examples {

Part part_of(std::string_view key) {
  std::uint64_t hash = 14695981039346656037u;
  for (const char c : key) hash = (hash ^ static_cast<std::uint8_t>(c)) * 1099511628211u;
  const std::uint64_t percent = hash % 100;
  return percent < 90 ? Part::train : percent < 95 ? Part::validation : Part::test;
}

std::string to_string(Part part) {
  switch (part) {
    case Part::train:
      return "train";
    case Part::validation:
      return "validation";
    case Part::test:
      return "test";
  }
  return "";
}

Part part_named(const std::string& name) {
  for (const Part part : {Part::train, Part::validation, Part::test})
    if (name == to_string(part)) return part;
  fail<ValueError>("part", "train, validation or test", "'" + name + "'");
}

}  // namespace weft::examples
