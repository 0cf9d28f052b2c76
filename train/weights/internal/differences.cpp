#include "train/weights/internal/differences.hpp"

#include <algorithm>
#include <ostream>

#include "weft/autograd/error.hpp"

namespace weft {

void Differences::check_shape(const std::string& name, const Shape& expected, const Shape& found) {
  if (found == expected) return;
  const bool transposed =
      std::equal(found.begin(), found.end(), std::make_reverse_iterator(expected.end()),
                 std::make_reverse_iterator(expected.begin()));
  other_shape.push_back(concatenate_text(
      name, ": expected ", expected, ", got ", found,
      transposed ? " (transposed? Keras and TensorFlow store weights as [in, out])" : ""));
}

void Differences::check_type(const std::string& name, const std::string& expected,
                             const std::string& found) {
  if (found != expected)
    other_type.push_back(concatenate_text(name, ": expected ", expected, ", got ", found));
}

std::string first_of(const std::vector<std::string>& names, std::size_t shown) {
  std::string text;
  for (std::size_t i = 0; i < std::min(shown, names.size()); ++i)
    text += (i > 0 ? ", " : "") + names[i];
  if (names.size() > shown) text += concatenate_text(", and ", names.size() - shown, " more");
  return text;
}

std::ostream& operator<<(std::ostream& out, const Differences& differences) {
  const auto write = [&](const char* kind, const std::vector<std::string>& names) {
    if (!names.empty())
      out << "; " << kind << " (" << names.size() << "): " << first_of(names, Differences::shown);
  };
  write("missing", differences.missing);
  write("unexpected", differences.unexpected);
  write("of another shape", differences.other_shape);
  write("of another type", differences.other_type);
  write("in several datasets", differences.ambiguous);
  return out;
}

}  // namespace weft
