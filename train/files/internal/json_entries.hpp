// The entries of JSON objects, with errors that name them. Included by definitions only.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "weft/autograd/error.hpp"
#include "weft/autograd/export.hpp"
#include "train/files/internal/json.hpp"

namespace weft {

// What a message shows of a value, which may be long.
WEFT_API std::string shown(const nlohmann::json& value);

// The entry of an object; null when the object has none.
inline const nlohmann::json& entry(const nlohmann::json& object, std::string_view name) {
  static const nlohmann::json none;
  if (!object.is_object()) return none;
  const auto found = object.find(name);
  return found == object.end() ? none : *found;
}

// The entry as a T (bool, std::int64_t, double, std::string), or `otherwise` when there is none or
// it is null. Throws ValueError for another type.
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

// The same for an entry that must be there.
template <class T>
T required_entry(const nlohmann::json& object, std::string_view name) {
  if (entry(object, name).is_null()) fail<ValueError>(std::string(name), "an entry", "none");
  return entry_or<T>(object, name, T{});
}

}  // namespace weft
