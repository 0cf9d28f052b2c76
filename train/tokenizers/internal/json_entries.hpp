// Reads JSON, and the entries of its objects, with errors that name them.
#pragma once

#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>

#include "weft/autograd/error.hpp"

namespace weft {

// What no file of a model needs, seen while it is parsed: other functions of the library are
// recursive, and of two entries of one name any might be meant.
class JsonLimits {
 public:
  // A callback of the parser.
  bool operator()(int depth, nlohmann::json::parse_event_t event, const nlohmann::json& parsed);
  // Throws ValueError for more than 100 levels, and for a name that is twice in the outer object,
  // or in one that is its entry.
  void check() const;

 private:
  static constexpr int max_depth = 100;
  std::array<std::set<std::string>, 2> names_;  // of the open objects
  std::string twice_;
  bool is_deep_ = false;
};

// Throws FileError, naming the file `path`, for a text that is not JSON, with the position of the
// error, and as JsonLimits does.
nlohmann::json parse_json(std::string_view text, const std::filesystem::path& path);

// What a message shows of a value, which may be long.
std::string shown(const nlohmann::json& value);

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
                     : std::is_same_v<T, std::string> ? "a text"
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
