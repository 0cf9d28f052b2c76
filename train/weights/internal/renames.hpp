// Renames: changes names by regular expressions.
#pragma once

#include <regex>
#include <string>
#include <vector>

#include "weft/train/weights/load_weights.hpp"

namespace weft {

class Renames {
 public:
  // Throws ValueError for a pattern that is no regular expression.
  explicit Renames(const std::vector<Rename>& renames);

  // The name after all renames, each of which sees the result of those before it. Throws ValueError
  // for a name that is longer than the regular expressions can safely be applied to.
  std::string apply(std::string name) const;

 private:
  struct Expression {
    std::regex regex;
    Rename rename;
  };
  std::vector<Expression> expressions_;
};

}  // namespace weft
