#include "train/weights/internal/name_rules.hpp"

#include <algorithm>
#include <optional>

#include "train/weights/internal/name_pattern.hpp"

namespace weft {
namespace {

using Parts = std::vector<std::string_view>;

bool is_number(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Removes a marker at the end; returns whether there was one.
bool remove_marker(std::string_view& part, char marker) {
  if (!part.ends_with(marker)) return false;
  part.remove_suffix(1);
  return true;
}

// What a rule found in a name.
struct Found {
  std::size_t end = 0;  // the first part after it
  Parts numbers;
  Index part = 0, parts = 1;
};

bool matches(std::string_view pattern, std::string_view part, Parts& numbers) {
  const std::size_t number = pattern.find('#');
  if (number == std::string_view::npos) return pattern == part;
  const std::string_view after = pattern.substr(number + 1);
  if (part.size() < pattern.size() || !part.starts_with(pattern.substr(0, number)) ||
      !part.ends_with(after))
    return false;
  const std::string_view digits = part.substr(number, part.size() - number - after.size());
  if (!is_number(digits)) return false;
  numbers.push_back(digits);
  return true;
}

bool matches_one_of(std::string_view pattern, std::string_view part, Found& found) {
  if (pattern.find('|') == std::string_view::npos) return matches(pattern, part, found.numbers);
  const Parts alternatives = split(pattern, '|');
  const auto alternative = std::find(alternatives.begin(), alternatives.end(), part);
  if (alternative == alternatives.end()) return false;
  found.part = alternative - alternatives.begin();
  found.parts = std::ssize(alternatives);
  return true;
}

std::optional<Found> find_at(const Parts& name, std::size_t begin, const Parts& rule) {
  Found found{.end = begin, .numbers = {}};
  for (std::string_view pattern : rule) {
    const bool is_optional = remove_marker(pattern, '?'), is_last = remove_marker(pattern, '$');
    const bool is_present = found.end < name.size() && (!is_last || found.end + 1 == name.size()) &&
                            matches_one_of(pattern, name[found.end], found);
    if (is_present)
      ++found.end;
    else if (!is_optional)
      return std::nullopt;
  }
  return found.end > begin ? std::optional(found) : std::nullopt;
}

}  // namespace

struct NameRules::Rewritten {
  std::vector<WeightPart> weights{{}};
  bool is_known = true;  // whether each part but the last is in a rule
  const char* separator = "";

  // A part of the names; with several alternatives, a name for each of them.
  void append(std::string_view part) {
    const Parts alternatives = split(part, '|');
    if (alternatives.size() > 1) {
      weights.assign(alternatives.size(), weights.front());
      for (std::size_t i = 0; i < alternatives.size(); ++i) {
        weights[i].part = static_cast<Index>(i);
        weights[i].parts = std::ssize(alternatives);
      }
    }
    for (std::size_t i = 0; i < weights.size(); ++i)
      weights[i].name.append(separator).append(alternatives.size() > 1 ? alternatives[i] : part);
    separator = ".";
  }

  // A part of which a file has made the text.
  void append_copy(std::string_view part) {
    for (WeightPart& weight : weights) weight.name.append(separator).append(part);
    separator = ".";
  }

  void append_rule(const Parts& rule, const Found& found) {
    if (found.parts > 1) {
      weights.front().part = found.part;
      weights.front().parts = found.parts;
    }
    auto number = found.numbers.begin();
    for (std::string_view pattern : rule) {
      remove_marker(pattern, '?');
      remove_marker(pattern, '$');
      std::string part(pattern);
      if (const std::size_t place = part.find('#'); place != std::string::npos)
        part.replace(place, 1, *number++);
      append(part);
    }
  }
};

NameRules::NameRules(std::initializer_list<NameRule> rules) {
  for (const auto& [theirs, ours] : rules) rules_.push_back({split(theirs, '.'), split(ours, '.')});
}

NameRules NameRules::also_reading(const NameRules& others) const {
  NameRules all = *this;
  for (const Rule& rule : others.rules_) all.rules_.push_back({rule.theirs, rule.ours, false});
  return all;
}

NameRules::Rewritten NameRules::rewrite(std::string_view name, Parts Rule::*from,
                                        Parts Rule::*to) const {
  const Parts parts = split(name, '.');
  Rewritten result;
  for (std::size_t begin = 0; begin < parts.size();) {
    std::optional<Found> found;
    for (auto rule = rules_.begin(); rule != rules_.end() && !found; ++rule) {
      if (from == &Rule::ours && !rule->is_written) continue;
      if ((found = find_at(parts, begin, (*rule).*from))) result.append_rule((*rule).*to, *found);
    }
    if (!found) {
      result.append_copy(parts[begin]);
      if (begin + 1 < parts.size()) result.is_known = false;
    }
    begin = found ? found->end : begin + 1;
  }
  return result;
}

std::vector<WeightPart> NameRules::ours(std::string_view name) const {
  return rewrite(name, &Rule::theirs, &Rule::ours).weights;
}

WeightPart NameRules::theirs(std::string_view name) const {
  const Rewritten result = rewrite(name, &Rule::ours, &Rule::theirs);
  return result.is_known ? result.weights.front() : WeightPart();
}

}  // namespace weft
