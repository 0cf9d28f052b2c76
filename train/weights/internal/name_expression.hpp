// NameExpression: a regular expression for names, as users write them.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "weft/autograd/export.hpp"
#include "train/text/tokenizers/internal/text_pattern.hpp"

namespace weft {

class WEFT_API NameExpression {
 public:
  // Throws ValueError, starting with `what`, if `pattern` is no regular expression. The other
  // functions throw it if a name is not UTF-8 or takes too long to match.
  NameExpression(const std::string& what, const std::string& pattern);

  // Returns whether the whole name matches.
  bool matches(std::string_view name) const;
  // Returns the name with a replacement for each match: "$1" to "$99" are groups, "$&" is the
  // match, "$`" and "$'" what is before and after it, "$$" is "$".
  std::string replaced(std::string_view name, std::string_view replacement) const;

 private:
  std::string what_;
  TextPattern anywhere_, whole_;
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
