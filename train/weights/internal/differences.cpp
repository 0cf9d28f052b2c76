#include "train/weights/internal/differences.hpp"

#include <algorithm>
#include <numeric>
#include <ostream>
#include <string_view>
#include <utility>

#include "weft/autograd/error.hpp"

namespace weft {
namespace {

// Returns the Levenshtein distance: the number of characters to insert, delete or replace. Computes
// its table row by row.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t replaced = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j)
      replaced = std::exchange(
          row[j + 1], std::min({row[j] + 1, row[j + 1] + 1, replaced + (a[i] == b[j] ? 0 : 1)}));
  }
  return row.back();
}

// Returns the last 100 characters of a name, which are enough for a comparison.
std::string_view end_of(std::string_view name) {
  constexpr std::size_t compared = 100;
  return name.substr(name.size() - std::min(name.size(), compared));
}

// Returns the last two parts of a name, "norm1.weight" for "blocks.0.norm1.weight", or the whole
// name if it has at most two.
std::string_view last_parts(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  const std::size_t before = dot == 0 || dot == name.npos ? name.npos : name.rfind('.', dot - 1);
  return before == name.npos ? name : name.substr(before + 1);
}

}  // namespace

void Differences::check_shape(const std::string& name, const Shape& expected, const Shape& found) {
  if (found == expected) return;
  const bool transposed =
      std::equal(found.begin(), found.end(), std::make_reverse_iterator(expected.end()),
                 std::make_reverse_iterator(expected.begin()));
  other_shape.push_back(
      str_cat(name, ": expected ", expected, ", got ", found,
              transposed ? " (transposed? Keras and TensorFlow store weights as [in, out])" : ""));
}

void Differences::check_type(const std::string& name, const std::string& expected,
                             const std::string& found) {
  if (found != expected)
    other_type.push_back(str_cat(name, ": expected ", expected, ", got ", found));
}

std::string first_of(const std::vector<std::string>& names, std::size_t shown) {
  std::string text;
  for (std::size_t i = 0; i < std::min(shown, names.size()); ++i)
    text += (i > 0 ? ", " : "") + names[i];
  if (names.size() > shown) text += str_cat(", and ", names.size() - shown, " more");
  return text;
}

Nearness nearness(const std::string& name, const std::string& other) {
  const std::string_view a = end_of(name), b = end_of(other);
  const std::size_t changes = distance(a, b);
  return {4 * changes <= std::max(a.size(), b.size()) || last_parts(a) == last_parts(b), changes};
}

std::ostream& operator<<(std::ostream& out, const Differences& differences) {
  const auto write = [&](const char* kind, const std::vector<std::string>& names) {
    if (!names.empty())
      out << "; " << kind << " (" << names.size() << "): " << first_of(names, Differences::shown);
  };
  write("missing", differences.missing);
  write("unexpected", differences.unexpected);
  write("different shape", differences.other_shape);
  write("different type", differences.other_type);
  write("in several datasets", differences.ambiguous);
  write("not readable from this layout", differences.unknown_form);
  if (differences.unexpected.size() > Differences::shown)
    out << " (h5weights inspect lists all datasets of the file)";
  return out;
}

}  // namespace weft
