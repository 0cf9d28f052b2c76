#include "examples/common/json_config.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
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

struct JsonConfig::Fields {
  Json json;

  // Returns null if there is no such field or its value is null.
  const Json* find(const std::string& name) const {
    const auto found = json.find(name);
    return found == json.end() || found->is_null() ? nullptr : &*found;
  }
};

JsonConfig::JsonConfig(const std::filesystem::path& path, Fields fields)
    : path_(path), fields_(std::make_unique<Fields>(std::move(fields))) {
  if (!fields_->json.is_object())
    fail<FileError>(name_of_file(path), "a JSON object", fields_->json.type_name());
}

JsonConfig::JsonConfig(const std::filesystem::path& path, std::uintmax_t limit)
    : JsonConfig(path, Fields{parsed(path, limit)}) {}

JsonConfig::JsonConfig(JsonConfig&&) noexcept = default;
JsonConfig::~JsonConfig() = default;

std::vector<JsonConfig> JsonConfig::list_in(const std::filesystem::path& path) {
  Json list = parsed(path, max_bytes);
  if (!list.is_array()) fail<FileError>(name_of_file(path), "a JSON list", list.type_name());
  std::vector<JsonConfig> objects;
  for (Json& object : list) objects.push_back(JsonConfig(path, Fields{std::move(object)}));
  return objects;
}

std::string JsonConfig::what() const { return name_of_file(path_); }

std::vector<std::string> JsonConfig::names() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : fields_->json.items()) names.push_back(name);
  return names;
}

const Json& JsonConfig::at(const std::string& name) const {
  static const Json none;
  const Json* field = fields_->find(name);
  return field ? *field : none;
}

void JsonConfig::check_names(std::initializer_list<std::string_view> known) const {
  for (const auto& [name, value] : fields_->json.items())
    if (!value.is_null() && std::ranges::find(known, name) == known.end())
      fail_on(name, "no value (unknown field)");
}

bool JsonConfig::has(const std::string& name) const { return fields_->find(name) != nullptr; }

void JsonConfig::fail_on(const std::string& name, const std::string& expected) const {
  constexpr std::size_t longest = 60;
  const Json* field = fields_->find(name);
  std::string got = field ? field->dump() : "none";
  if (got.size() > longest) got = got.substr(0, longest) + "…";
  fail<FileError>(name_of_file(path_), str_cat(expected, " as ", name), got);
}

Index JsonConfig::size(const std::string& name, std::optional<Index> otherwise,
                       Index highest) const {
  const Json* field = fields_->find(name);
  if (!field && otherwise) return *otherwise;
  // Integers ≥ 0 are unsigned.
  const std::uint64_t value =
      field && field->is_number_unsigned() ? field->get<std::uint64_t>() : 0;
  if (value < 1 || value > static_cast<std::uint64_t>(highest))
    fail_on(name, str_cat("an integer from 1 to ", highest));
  return static_cast<Index>(value);
}

double JsonConfig::number(const std::string& name, std::optional<double> otherwise) const {
  const Json* field = fields_->find(name);
  if (!field && otherwise) return *otherwise;
  if (!field || !field->is_number()) fail_on(name, "a number");
  return field->get<double>();
}

std::string JsonConfig::text(const std::string& name,
                             const std::optional<std::string>& otherwise) const {
  const Json* field = fields_->find(name);
  if (!field && otherwise) return *otherwise;
  if (!field || !field->is_string()) fail_on(name, "a string");
  return field->get<std::string>();
}

bool JsonConfig::flag(const std::string& name, std::optional<bool> otherwise) const {
  const Json* field = fields_->find(name);
  if (!field && otherwise) return *otherwise;
  if (!field || !field->is_boolean()) fail_on(name, "true or false");
  return field->get<bool>();
}

}  // namespace weft::examples
