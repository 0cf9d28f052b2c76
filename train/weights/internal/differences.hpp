// Differences between what a file should hold and what it holds, each a line of text.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "weft/autograd/shape.hpp"

namespace weft {

struct Differences {
  std::vector<std::string> missing;
  std::vector<std::string> unexpected;
  std::vector<std::string> misshapen;
  std::vector<std::string> mistyped;

  bool empty() const {
    return missing.empty() && unexpected.empty() && misshapen.empty() && mistyped.empty();
  }
  // Notes another shape than the one expected, with a hint when it is the transpose.
  void check_shape(const std::string& name, const Shape& expected, const Shape& found);
  // Notes another type than the one expected.
  void check_type(const std::string& name, const std::string& expected, const std::string& found);
};

// "\n  missing (2):\n    encoder.0.weight [3, 4]\n…": each kind that there is, in full.
std::ostream& operator<<(std::ostream& out, const Differences& differences);

}  // namespace weft
