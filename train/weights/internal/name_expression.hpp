// NameExpression: a regular expression for names, as users write them.
#pragma once

#include <algorithm>
#include <regex>
#include <string>
#include <vector>

#include "weft/autograd/error.hpp"

namespace weft {

class NameExpression {
 public:
  // Throws ValueError, starting with `what`, for a pattern that is no regular expression
  // (ECMAScript's). The other functions throw it, too, when the expression is too complex for a
  // name, and for a name that is longer than expressions can safely be applied to.
  NameExpression(const std::string& what, const std::string& pattern)
      : what_(what), pattern_(pattern) {
    apply_to("", [&] { regex_.assign(pattern); });
  }

  // Returns whether the whole name has the form of the expression.
  bool matches(const std::string& name) const {
    return apply_to(name, [&] { return std::regex_match(name, regex_); });
  }
  // The name with a replacement for each match, in which "$1" is the first group.
  std::string replaced(const std::string& name, const std::string& replacement) const {
    return apply_to(name, [&] { return std::regex_replace(name, regex_, replacement); });
  }

 private:
  // The standard library's matching is recursive, by some hundred bytes of stack a character.
  static constexpr std::size_t max_bytes = 1000;

  template <class Use>
  auto apply_to(const std::string& name, const Use& use) const -> decltype(use()) {
    if (name.size() > max_bytes)
      fail<ValueError>(what_, concatenate_text("names of at most ", max_bytes, " bytes"),
                       concatenate_text("one of ", name.size(), " bytes"));
    try {
      return use();
    } catch (const std::regex_error& error) {
      fail<ValueError>(what_, "a regular expression",
                       concatenate_text('\'', pattern_, "' (", error.what(), ')'));
    }
  }

  std::string what_, pattern_;
  std::regex regex_;
};

// Several expressions, one of which a name has to match.
class NameExpressions {
 public:
  NameExpressions(const std::string& what, const std::vector<std::string>& patterns) {
    for (const std::string& pattern : patterns) expressions_.emplace_back(what, pattern);
  }

  bool empty() const { return expressions_.empty(); }
  bool match(const std::string& name) const {
    return std::ranges::any_of(
        expressions_, [&](const NameExpression& expression) { return expression.matches(name); });
  }

 private:
  std::vector<NameExpression> expressions_;
};

}  // namespace weft
