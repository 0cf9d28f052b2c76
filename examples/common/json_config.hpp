// JsonConfig: the fields of a JSON file, such as a model's configuration.
#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weft/autograd/shape.hpp>

namespace weft::examples {

class JsonConfig {
 public:
  static constexpr std::uintmax_t max_bytes = 4 << 20;

  // Reads a file. Throws FileError if the file cannot be read or is larger than `limit`. If it is
  // not a JSON object (see check_json), the error contains the position of the mistake.
  explicit JsonConfig(const std::filesystem::path& path, std::uintmax_t limit = max_bytes);

  // Returns the name of the file for messages: "configuration 'PATH'".
  std::string what() const;
  // Returns the names of all fields.
  std::vector<std::string> names() const;
  // Whether there is a field of this name that is not null.
  bool has(const std::string& name) const;
  // Returns the value of a field, or null if the file has no such field.
  const nlohmann::json& at(const std::string& name) const;
  // Returns the objects of a file that contains a JSON list. Throws the same exceptions as the
  // constructor.
  static std::vector<JsonConfig> list_in(const std::filesystem::path& path);
  // Throws FileError for a field whose name is not in `known`, unless its value is null.
  void check_names(std::initializer_list<std::string_view> known) const;

  // Return the value of a field, or `otherwise`, if set, for a field that is missing or null. Throw
  // FileError, naming the file and the field, if a field is missing or has another type. A size is
  // an integer from 1 to `highest`.
  Index size(const std::string& name, std::optional<Index> otherwise = {},
             Index highest = std::numeric_limits<std::int32_t>::max()) const;
  double number(const std::string& name, std::optional<double> otherwise = {}) const;
  std::string text(const std::string& name, const std::optional<std::string>& otherwise = {}) const;
  bool flag(const std::string& name, std::optional<bool> otherwise = {}) const;
  // Throws FileError: "expected EXPECTED as NAME, got VALUE".
  [[noreturn]] void fail_on(const std::string& name, const std::string& expected) const;

 private:
  JsonConfig(const std::filesystem::path& path, nlohmann::json fields);

  std::filesystem::path path_;
  nlohmann::json fields_;
};

}  // namespace weft::examples
