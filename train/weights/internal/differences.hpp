// Collects differences between the expected and the actual contents of a file, and lists them in
// messages.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <vector>

#include "weft/autograd/shape.hpp"

namespace weft {

// Lists of differences. Each entry is a string that starts with a name.
struct Differences {
  static constexpr std::size_t shown = 3;  // the number of entries of each kind shown in messages

  std::vector<std::string> missing;
  std::vector<std::string> unexpected;
  std::vector<std::string> other_shape;
  std::vector<std::string> other_type;
  // Parameters for which the file contains several datasets.
  std::vector<std::string> ambiguous;
  // Parameters that cannot be read from the layout of the file, because it stores them in an
  // unknown way.
  std::vector<std::string> unknown_form;

  bool empty() const {
    return missing.empty() && unexpected.empty() && other_shape.empty() && other_type.empty() &&
           ambiguous.empty() && unknown_form.empty();
  }
  // Adds an entry to `other_shape` if the shapes differ, with a hint if `found` is the transpose.
  void check_shape(const std::string& name, const Shape& expected, const Shape& found);
  // Adds an entry to `other_type` if the types differ.
  void check_type(const std::string& name, const std::string& expected, const std::string& found);
};

// Returns the first `shown` names and the number of omitted names: "a, b, and 2 more".
std::string first_of(const std::vector<std::string>& names, std::size_t shown);

// How similar two names are.
struct Nearness {
  // Whether one name may be a misspelling of the other: few characters differ, or the last two
  // parts are equal, as in "blocks.0.norm1.weight" and "layers.0.norm1.weight".
  bool is_similar;
  std::size_t distance;  // the Levenshtein distance
};
Nearness nearness(const std::string& name, const std::string& other);

// Writes each non-empty list: "; missing (9): encoder.0.weight [3, 4], …, and 6 more; unexpected
// …".
std::ostream& operator<<(std::ostream& out, const Differences& differences);

}  // namespace weft
