// Differences between the expected and the actual contents of a file, and how messages list them.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <vector>

#include "weft/autograd/shape.hpp"

namespace weft {

// Each a text that begins with a name.
struct Differences {
  static constexpr std::size_t shown = 3;  // of each kind, in messages

  std::vector<std::string> missing;
  std::vector<std::string> unexpected;
  std::vector<std::string> other_shape;
  std::vector<std::string> other_type;
  // Parameters, each with several datasets.
  std::vector<std::string> ambiguous;
  // Parameters whose form in the layout of the file is not known.
  std::vector<std::string> unknown_form;

  bool empty() const {
    return missing.empty() && unexpected.empty() && other_shape.empty() && other_type.empty() &&
           ambiguous.empty() && unknown_form.empty();
  }
  // Records a shape other than the expected one, with a hint if it is the transpose.
  void check_shape(const std::string& name, const Shape& expected, const Shape& found);
  // Records a type other than the expected one.
  void check_type(const std::string& name, const std::string& expected, const std::string& found);
};

// The first names and the number of the others: "a, b, and 2 more".
std::string first_of(const std::vector<std::string>& names, std::size_t shown);

// How near a name is to another one.
struct Nearness {
  // Whether one may be meant by the other: few characters differ, or the last two parts are the
  // same, as in "blocks.0.norm1.weight" and "layers.0.norm1.weight".
  bool is_similar;
  std::size_t distance;  // the number of characters to insert, delete and replace
};
Nearness nearness(const std::string& name, const std::string& other);

// "; missing (9): encoder.0.weight [3, 4], …, and 6 more; unexpected …": each non-empty kind.
std::ostream& operator<<(std::ostream& out, const Differences& differences);

}  // namespace weft
