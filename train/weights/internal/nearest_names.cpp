#include "train/weights/internal/nearest_names.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <tuple>
#include <utility>

#include "train/weights/internal/name_pattern.hpp"

namespace weft {
namespace {

// Levenshtein's distance of two sequences, row by row of its table.
template <class Sequence>
std::size_t distance(const Sequence& a, const Sequence& b) {
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

// The end of a name, which is enough to compare.
std::string_view end_of(std::string_view name) {
  constexpr std::size_t compared = 100;
  return name.substr(name.size() - std::min(name.size(), compared));
}

}  // namespace

std::vector<std::string> nearest_names(const std::string& name,
                                       const std::vector<std::string>& names) {
  constexpr std::size_t proposed = 3;
  std::vector<std::tuple<std::size_t, std::size_t, std::string>> ranked;
  for (const std::string& other : names)
    ranked.emplace_back(distance(split(end_of(name), '.'), split(end_of(other), '.')),
                        distance(end_of(name), end_of(other)), other);
  const auto last = ranked.begin() + static_cast<std::ptrdiff_t>(std::min(proposed, ranked.size()));
  std::partial_sort(ranked.begin(), last, ranked.end());
  std::vector<std::string> nearest;
  std::transform(ranked.begin(), last, std::back_inserter(nearest),
                 [](const auto& entry) { return std::get<2>(entry); });
  return nearest;
}

}  // namespace weft
