// NameExpression: a regular expression for names, as users write them.
#pragma once

#include <regex>
#include <string>
#include <vector>

namespace weft {

class NameExpression {
 public:
  // Throws ValueError, starting with `what`, for a pattern that is no regular expression
  // (ECMAScript's). The other functions throw it, too, when the expression is too complex for a
  // name, and for a name that is longer than expressions can safely be applied to.
  NameExpression(std::string what, std::string pattern);

  // Returns whether the whole name has the form of the expression.
  bool matches(const std::string& name) const;
  // The name with a replacement for each match, in which "$1" is the first group.
  std::string replaced(const std::string& name, const std::string& replacement) const;

 private:
  template <class Use>
  auto use(const std::string& name, const Use& use) const;
  [[noreturn]] void fail_with(const std::regex_error& error) const;

  std::string what_, pattern_;
  std::regex regex_;
};

// Of several patterns.
std::vector<NameExpression> name_expressions(const std::string& what,
                                             const std::vector<std::string>& patterns);

// Returns whether a name has the form of one of the expressions.
bool is_one_of(const std::vector<NameExpression>& expressions, const std::string& name);

}  // namespace weft
