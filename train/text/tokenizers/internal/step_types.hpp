// The types of steps that a tokenizer.json may describe, and the entries of each.
#pragma once

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "weft/autograd/error.hpp"
#include "train/files/internal/json_entries.hpp"

namespace weft {

// A type of step: its name, the entries of its description besides `type`, and a function that
// creates the step. A "?" before the name of an entry means that the entry is optional.
template <class Step>
struct StepType {
  std::string name;
  std::vector<std::string> entries;
  std::function<Step(const nlohmann::json&)> make;
};

// Throws ValueError, naming the entry, if an object lacks a required entry (see StepType) or has an
// unknown entry.
inline void check_entries(const std::string& what, const nlohmann::json& object,
                          const std::vector<std::string>& entries) {
  if (!object.is_object()) fail<ValueError>(what, "an object", object.type_name());
  const auto has = [&](const std::string& name) {
    return std::ranges::any_of(entries, [&](const std::string& known) {
      return known == name || (known.starts_with('?') && known.substr(1) == name);
    });
  };
  for (const auto& [name, value] : object.items())
    if (!has(name)) fail<ValueError>(what, "only known entries", shown(name));
  for (const std::string& name : entries)
    if (!name.starts_with('?') && !object.contains(name))
      fail<ValueError>(what, "the entry " + name, "none");
}

// Creates a step from its description. Throws ValueError, starting with `what`, for an unknown type
// or unknown entries.
template <class Step>
Step make_step(const std::string& what, const std::vector<StepType<Step>>& types,
               const nlohmann::json& description) {
  const auto name = entry_or<std::string>(description, "type", "");
  const auto type = std::ranges::find(types, name, &StepType<Step>::name);
  if (type == types.end()) {
    std::string names;
    for (std::size_t i = 0; i < types.size(); ++i)
      names += (i == 0 ? "" : i + 1 < types.size() ? ", " : " or ") + types[i].name;
    fail<ValueError>(what, names, shown(name));
  }
  std::vector<std::string> entries = type->entries;
  entries.emplace_back("type");
  check_entries(what + " " + name, description, entries);
  return type->make(description);
}

// Returns the steps of a description: a single step, the steps of a Sequence in its entry `list`,
// or none if the description is null.
inline std::vector<nlohmann::json> steps_of(const nlohmann::json& description,
                                            const std::string& list) {
  if (description.is_null()) return {};
  if (entry_or<std::string>(description, "type", "") != "Sequence") return {description};
  check_entries("Sequence", description, {"type", list});
  const nlohmann::json& parts = entry(description, list);
  if (!parts.is_array()) fail<ValueError>(list, "a list", parts.type_name());
  std::vector<nlohmann::json> steps;
  for (const nlohmann::json& part : parts)
    for (nlohmann::json& step : steps_of(part, list)) steps.push_back(std::move(step));
  return steps;
}

}  // namespace weft
