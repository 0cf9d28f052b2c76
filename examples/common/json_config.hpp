// JsonConfig: the fields of a JSON file, such as the configuration of a model.
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

  // Throws FileError for a file that cannot be read or is larger than `limit`, and for one that is
  // not a JSON object (see check_json), with the position of the mistake.
  explicit JsonConfig(const std::filesystem::path& path, std::uintmax_t limit = max_bytes);

  // Returns the file's description in messages.
  std::string what() const;
  // Returns the names of all fields.
  std::vector<std::string> names() const;
  // Whether there is a field of this name that is not null.
  bool has(const std::string& name) const;
  // Returns the value of a field, or null if there is none.
  const nlohmann::json& at(const std::string& name) const;
  // Returns the objects of a file that contains a JSON list. Throws FileError as the constructor.
  static std::vector<JsonConfig> list_in(const std::filesystem::path& path);
  // Throws FileError for a field whose name is not in `known`, unless its value is null.
  void check_names(std::initializer_list<std::string_view> known) const;

  // The value of a field; `otherwise`, when given, if there is none or it is null. Throw FileError,
  // naming the file and the field, when a field is missing or has another type. A size is an
  // integer in 1 … highest.
  Index size(const std::string& name, std::optional<Index> otherwise = {},
             Index highest = std::numeric_limits<std::int32_t>::max()) const;
  double number(const std::string& name, std::optional<double> otherwise = {}) const;
  std::string text(const std::string& name, const std::optional<std::string>& otherwise = {}) const;
  bool flag(const std::string& name, std::optional<bool> otherwise = {}) const;
  // Throws the FileError for a value of a field that is not the expected one.
  [[noreturn]] void fail_on(const std::string& name, const std::string& expected) const;

 private:
  JsonConfig(const std::filesystem::path& path, nlohmann::json fields);

  std::filesystem::path path_;
  nlohmann::json fields_;
};

}  // namespace weft::examples
