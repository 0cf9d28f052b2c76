#include "examples/common/json_config.hpp"

#include <algorithm>
#include <utility>

#include <weft/autograd/error.hpp>
#include <weft/train/files/json.hpp>
#include <weft/train/files/utf8.hpp>

namespace weft::examples {
namespace {

using Json = nlohmann::json;

std::string name_of_file(const std::filesystem::path& path) {
  return str_cat("configuration '", path.string(), "'");
}

Json parsed(const std::filesystem::path& path, std::uintmax_t limit) {
  const std::string text = read_text(path, limit);
  try {
    check_json(text);
  } catch (const ValueError& error) {
    throw FileError(str_cat(name_of_file(path), ": ", error.what()));
  }
  return Json::parse(text);
}

}  // namespace

JsonConfig::JsonConfig(const std::filesystem::path& path, Json fields)
    : path_(path), fields_(std::move(fields)) {
  if (!fields_.is_object()) fail<FileError>(what(), "a JSON object", fields_.type_name());
}

JsonConfig::JsonConfig(const std::filesystem::path& path, std::uintmax_t limit)
    : JsonConfig(path, parsed(path, limit)) {}

std::vector<JsonConfig> JsonConfig::list_in(const std::filesystem::path& path) {
  Json list = parsed(path, max_bytes);
  if (!list.is_array()) fail<FileError>(name_of_file(path), "a JSON list", list.type_name());
  std::vector<JsonConfig> objects;
  for (Json& object : list) objects.push_back(JsonConfig(path, std::move(object)));
  return objects;
}

std::string JsonConfig::what() const { return name_of_file(path_); }

std::vector<std::string> JsonConfig::names() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : fields_.items()) names.push_back(name);
  return names;
}

const Json& JsonConfig::at(const std::string& name) const {
  static const Json none;
  const auto found = fields_.find(name);
  return found == fields_.end() ? none : *found;
}

void JsonConfig::check_names(std::initializer_list<std::string_view> known) const {
  for (const auto& [name, value] : fields_.items())
    if (!value.is_null() && std::ranges::find(known, name) == known.end())
      fail_on(name, "no value (unknown field)");
}

bool JsonConfig::has(const std::string& name) const { return !at(name).is_null(); }

void JsonConfig::fail_on(const std::string& name, const std::string& expected) const {
  constexpr std::size_t longest = 60;
  std::string got = has(name) ? at(name).dump() : "none";
  if (got.size() > longest) got = got.substr(0, longest) + "…";
  fail<FileError>(what(), str_cat(expected, " as ", name), got);
}

Index JsonConfig::size(const std::string& name, std::optional<Index> otherwise,
                       Index highest) const {
  const Json& field = at(name);
  if (field.is_null() && otherwise) return *otherwise;
  // Integers ≥ 0 are unsigned.
  const std::uint64_t value = field.is_number_unsigned() ? field.get<std::uint64_t>() : 0;
  if (value < 1 || value > static_cast<std::uint64_t>(highest))
    fail_on(name, str_cat("an integer from 1 to ", highest));
  return static_cast<Index>(value);
}

double JsonConfig::number(const std::string& name, std::optional<double> otherwise) const {
  const Json& field = at(name);
  if (field.is_null() && otherwise) return *otherwise;
  if (!field.is_number()) fail_on(name, "a number");
  return field.get<double>();
}

std::string JsonConfig::text(const std::string& name,
                             const std::optional<std::string>& otherwise) const {
  const Json& field = at(name);
  if (field.is_null() && otherwise) return *otherwise;
  if (!field.is_string()) fail_on(name, "a string");
  return field.get<std::string>();
}

bool JsonConfig::flag(const std::string& name, std::optional<bool> otherwise) const {
  const Json& field = at(name);
  if (field.is_null() && otherwise) return *otherwise;
  if (!field.is_boolean()) fail_on(name, "true or false");
  return field.get<bool>();
}

}  // namespace weft::examples
