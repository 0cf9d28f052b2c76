// Names of the values of an enumeration.
#pragma once

#include <array>
#include <string>
#include <utility>

#include "weft/autograd/error.hpp"

namespace weft {

// Each value of an enumeration with its name.
template <class Enum, std::size_t size>
using EnumNames = std::array<std::pair<Enum, const char*>, size>;

// The name of a value. Throws ValueError, naming `what`, when it has none.
template <class Enum, std::size_t size>
const char* name_of(const char* what, Enum value, const EnumNames<Enum, size>& names) {
  for (const auto& [named, name] : names)
    if (named == value) return name;
  fail<ValueError>(what, "a value of the enumeration", static_cast<int>(value));
}

// The value of a name. Throws ValueError, naming `what` and listing the names, when there is none.
template <class Enum, std::size_t size>
Enum value_named(const char* what, const std::string& name, const EnumNames<Enum, size>& names) {
  std::string known;
  for (const auto& [value, its_name] : names) {
    if (name == its_name) return value;
    known += (known.empty() ? "" : ", ") + std::string(its_name);
  }
  fail<ValueError>(what, "one of " + known, "'" + name + "'");
}

}  // namespace weft
