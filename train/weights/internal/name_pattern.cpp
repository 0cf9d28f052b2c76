#include "train/weights/internal/name_pattern.hpp"

#include <algorithm>

namespace weft {

bool matches_pattern(std::string_view pattern, std::string_view name) {
  const std::size_t first_star = pattern.find('*');
  if (first_star == std::string_view::npos) return pattern == name;
  if (!name.starts_with(pattern.substr(0, first_star))) return false;
  pattern.remove_prefix(first_star + 1);
  name.remove_prefix(first_star);
  // Between two stars, the first place where the text stands leaves the most for the rest.
  for (std::size_t star; (star = pattern.find('*')) != std::string_view::npos;) {
    const std::size_t found = name.find(pattern.substr(0, star));
    if (found == std::string_view::npos) return false;
    name.remove_prefix(found + star);
    pattern.remove_prefix(star + 1);
  }
  return name.ends_with(pattern);
}

bool is_one_of(const std::vector<std::string>& patterns, std::string_view name) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& pattern) { return matches_pattern(pattern, name); });
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  if (text.empty()) return parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

}  // namespace weft
