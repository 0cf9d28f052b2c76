#include "weft/train/weights/name_pattern.hpp"

#include <algorithm>
#include <utility>

#include "weft/train/files/utf8.hpp"
#include "train/weights/internal/name_pattern.hpp"

namespace weft {
namespace {

bool is_digit(char c) { return '0' <= c && c <= '9'; }

// Appends a replacement in the syntax of ECMAScript.
void append_format(std::string_view format, std::string_view name, const TextMatch& match,
                   std::string& result) {
  const auto group = [&](std::size_t index) {
    const int begin = match.group_begins[index];
    if (begin < 0) return std::string_view();
    return name.substr(static_cast<std::size_t>(begin),
                       static_cast<std::size_t>(match.group_ends[index] - begin));
  };
  for (std::size_t at = 0; at < format.size(); ++at) {
    const char next = at + 1 < format.size() ? format[at + 1] : '\0';
    if (format[at] != '$') {
      result += format[at];
    } else if (next == '$' || next == '&' || next == '`' || next == '\'') {
      result += next == '$'   ? std::string_view("$")
                : next == '&' ? group(0)
                : next == '`' ? name.substr(0, match.begin)
                              : name.substr(match.end);
      ++at;
    } else if (is_digit(next)) {
      // Two digits if a group has this number, otherwise one digit.
      const std::size_t groups = match.group_begins.size();
      auto index = static_cast<std::size_t>(next - '0');
      std::size_t digits = 1;
      if (at + 2 < format.size() && is_digit(format[at + 2]))
        if (const std::size_t two = index * 10 + static_cast<std::size_t>(format[at + 2] - '0');
            0 < two && two < groups) {
          index = two;
          digits = 2;
        }
      if (0 < index && index < groups)
        result += group(index);
      else
        result.append(format.substr(at, 1 + digits));
      at += digits;
    } else {
      result += '$';
    }
  }
}

}  // namespace

NamePattern::NamePattern(const std::string& what, const std::string& pattern)
    : what_((check_utf8(pattern, what), what)),
      anywhere_(what, pattern),
      whole_(what, pattern, TextPattern::Fit::whole) {}

bool NamePattern::matches(std::string_view name) const {
  check_utf8(name, what_);
  TextBudget budget(name.size());
  return whole_.fits(name, budget);
}

std::string NamePattern::replaced(std::string_view name, std::string_view replacement) const {
  check_utf8(name, what_);
  TextBudget budget(name.size() + replacement.size());
  return anywhere_.replaced(name, budget, [&](const TextMatch& match, std::string& result) {
    append_format(replacement, name, match, result);
  });
}

NameFilter matching(const std::string& pattern, const std::string& what) {
  return matching_any({pattern}, what);
}

NameFilter matching_any(const std::vector<std::string>& patterns, const std::string& what) {
  std::vector<NamePattern> compiled;
  for (const std::string& pattern : patterns) compiled.emplace_back(what, pattern);
  return [compiled = std::move(compiled)](const std::string& name) {
    return std::ranges::any_of(compiled,
                               [&](const NamePattern& pattern) { return pattern.matches(name); });
  };
}

}  // namespace weft
