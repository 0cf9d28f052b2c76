// Access to the entries of JSON objects, with errors that name the entry. Include it only in .cpp
// files.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "weft/autograd/error.hpp"
#include "weft/autograd/export.hpp"
#include "train/files/internal/json.hpp"

namespace weft {

// Returns a value as text for a message, shortened if it is long.
WEFT_API std::string shown(const nlohmann::json& value);

// Returns the entry of an object, or null if there is none.
inline const nlohmann::json& entry(const nlohmann::json& object, std::string_view name) {
  static const nlohmann::json none;
  if (!object.is_object()) return none;
  const auto found = object.find(name);
  return found == object.end() ? none : *found;
}

// Returns the entry as a T (bool, std::int64_t, double, std::string), or `otherwise` if it is
// missing or null. Throws ValueError for a different type.
template <class T>
T entry_or(const nlohmann::json& object, std::string_view name, T otherwise) {
  const nlohmann::json& value = entry(object, name);
  if (value.is_null()) return otherwise;
  const bool fits = std::is_same_v<T, bool>          ? value.is_boolean()
                    : std::is_same_v<T, std::string> ? value.is_string()
                    : std::is_integral_v<T>          ? value.is_number_integer()
                                                     : value.is_number();
  if (!fits)
    fail<ValueError>(std::string(name),
                     std::is_same_v<T, bool>          ? "true or false"
                     : std::is_same_v<T, std::string> ? "a string"
                     : std::is_integral_v<T>          ? "an integer"
                                                      : "a number",
                     value.type_name());
  return value.template get<T>();
}

// Returns a required entry as a T. Throws ValueError if it is missing, null or of a different type.
template <class T>
T required_entry(const nlohmann::json& object, std::string_view name) {
  if (entry(object, name).is_null()) fail<ValueError>(std::string(name), "an entry", "none");
  return entry_or<T>(object, name, T{});
}

}  // namespace weft
