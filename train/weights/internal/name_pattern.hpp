// NamePattern: a regular expression for names, given by the user.
#pragma once

#include <string>
#include <string_view>

#include "train/text/tokenizers/internal/text_pattern.hpp"

namespace weft {

class NamePattern {
 public:
  // Compiles a regular expression. Throws ValueError, starting with `what`, if `pattern` is not a
  // regular expression. The other functions throw ValueError if a name is not UTF-8 or takes too
  // long to match.
  NamePattern(const std::string& what, const std::string& pattern);

  // Returns whether the pattern matches the whole name.
  bool matches(std::string_view name) const;
  // Returns the name with each match replaced: "$1" to "$99" are groups, "$&" is the match, "$`"
  // and "$'" are the text before and after the match, "$$" is "$".
  std::string replaced(std::string_view name, std::string_view replacement) const;

 private:
  std::string what_;
  TextPattern anywhere_, whole_;
};

}  // namespace weft
