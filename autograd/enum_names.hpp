// Names of enumeration values.
#pragma once

#include <array>
#include <string>
#include <utility>

#include "weft/autograd/error.hpp"

namespace weft {

// A table of an enumeration's values and their names.
template <class Enum, std::size_t size>
using EnumNames = std::array<std::pair<Enum, const char*>, size>;

// Returns the name of `value`. Throws ValueError if the table does not contain it; the message
// starts with `what`.
template <class Enum, std::size_t size>
const char* name_of(const char* what, Enum value, const EnumNames<Enum, size>& names) {
  for (const auto& [named, name] : names)
    if (named == value) return name;
  fail<ValueError>(what, "a value of the enumeration", static_cast<int>(value));
}

// Returns the value with the given name. Throws ValueError if no value has it; the message starts
// with `what` and lists the known names.
template <class Enum, std::size_t size>
Enum enum_from_name(const char* what, const std::string& name, const EnumNames<Enum, size>& names) {
  std::string known;
  for (const auto& [value, its_name] : names) {
    if (name == its_name) return value;
    known += (known.empty() ? "" : ", ") + std::string(its_name);
  }
  fail<ValueError>(what, "one of " + known, "'" + name + "'");
}

}  // namespace weft
