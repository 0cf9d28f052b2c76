// Differences between the expected and the actual contents of a file, each a line of text.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "weft/autograd/shape.hpp"

namespace weft {

struct Differences {
  std::vector<std::string> missing;
  std::vector<std::string> unexpected;
  std::vector<std::string> other_shape;
  std::vector<std::string> other_type;
  // Parameters, each with several datasets.
  std::vector<std::string> ambiguous;

  bool empty() const {
    return missing.empty() && unexpected.empty() && other_shape.empty() && other_type.empty() &&
           ambiguous.empty();
  }
  // Records a shape other than the expected one, with a hint if it is the transpose.
  void check_shape(const std::string& name, const Shape& expected, const Shape& found);
  // Records a type other than the expected one.
  void check_type(const std::string& name, const std::string& expected, const std::string& found);
};

// "\n  missing (2):\n    encoder.0.weight [3, 4]\n…": each non-empty kind, in full.
std::ostream& operator<<(std::ostream& out, const Differences& differences);

}  // namespace weft
