#include "train/pretrained/keras/internal/keras_config.hpp"

#include <limits>
#include <string_view>
#include <utility>

#include "weft/autograd/error.hpp"
#include "train/files/internal/json_entries.hpp"

namespace weft {
namespace {

using nlohmann::json;

// Entries of every layer that do not change what it computes.
constexpr std::string_view without_effect =
    " name trainable dtype batch_input_shape batch_shape input_dtype build_config "
    "implementation time_major input_length unroll autocast ";

Index checked_integer(const std::string& name, const json& value, Index lowest) {
  constexpr std::int64_t highest = std::numeric_limits<std::int32_t>::max();
  if (!value.is_number_integer()) fail<ValueError>(name, "an integer", shown(value));
  const auto integer = value.get<std::int64_t>();
  if (integer < lowest || integer > highest)
    fail<ValueError>(name, str_cat("an integer between ", lowest, " and ", highest), shown(value));
  return integer;
}

}  // namespace

KerasConfig::KerasConfig(json entries, KerasVersion version)
    : entries_(std::move(entries)), version_(version) {
  if (!entries_.is_object()) fail<ValueError>("config", "an object", entries_.type_name());
}

const json& KerasConfig::at(const std::string& name) {
  read_.insert(name);
  return entry(entries_, name);
}

bool KerasConfig::flag(const std::string& name, bool otherwise) {
  read_.insert(name);
  return entry_or(entries_, name, otherwise);
}

double KerasConfig::number(const std::string& name, double otherwise) {
  read_.insert(name);
  return entry_or(entries_, name, otherwise);
}

std::string KerasConfig::text(const std::string& name, const std::string& otherwise) {
  read_.insert(name);
  return entry_or(entries_, name, otherwise);
}

Index KerasConfig::size(const std::string& name, std::optional<Index> otherwise, Index lowest) {
  const json& value = at(name);
  if (value.is_null() && otherwise) return *otherwise;
  return checked_integer(name, value, lowest);
}

std::vector<Index> KerasConfig::integers(const std::string& name) {
  const json& value = at(name);
  std::vector<Index> integers;
  if (value.is_null()) return integers;
  for (const json& element : value.is_array() ? value : json::array({value}))
    integers.push_back(checked_integer(name, element, std::numeric_limits<std::int32_t>::min()));
  return integers;
}

Index KerasConfig::single(const std::string& name, Index otherwise, Index lowest) {
  const json& value = at(name);
  if (value.is_null()) return otherwise;
  if (value.is_array() && value.size() != 1) fail<ValueError>(name, "one integer", shown(value));
  return checked_integer(name, value.is_array() ? value.front() : value, lowest);
}

void KerasConfig::require(const std::string& name, const json& value) {
  if (has(name) && at(name) != value) fail<ValueError>(name, value.dump(), shown(at(name)));
}

void KerasConfig::check_all_read() const {
  for (const auto& [name, value] : entries_.items()) {
    const bool is_known = read_.contains(name) || name.ends_with("_initializer") ||
                          value.is_null() ||
                          without_effect.find(str_cat(' ', name, ' ')) != without_effect.npos;
    if (!is_known) fail<ValueError>(name, "a supported entry", shown(value));
  }
}

}  // namespace weft
