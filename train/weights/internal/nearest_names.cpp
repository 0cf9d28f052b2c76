#include "train/weights/internal/nearest_names.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

namespace weft {
namespace {

// Levenshtein's distance, row by row of its table, of the last characters of both names.
std::size_t distance(std::string_view a, std::string_view b) {
  constexpr std::size_t compared = 100;
  a.remove_prefix(a.size() - std::min(a.size(), compared));
  b.remove_prefix(b.size() - std::min(b.size(), compared));
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

}  // namespace

std::vector<std::string> nearest_names(const std::string& name,
                                       const std::vector<std::string>& names) {
  constexpr std::size_t proposed = 3;
  std::vector<std::pair<std::size_t, std::string>> ranked;
  for (const std::string& other : names) ranked.emplace_back(distance(name, other), other);
  const auto last = ranked.begin() + static_cast<std::ptrdiff_t>(std::min(proposed, ranked.size()));
  std::partial_sort(ranked.begin(), last, ranked.end());
  std::vector<std::string> nearest;
  std::transform(ranked.begin(), last, std::back_inserter(nearest),
                 [](const auto& entry) { return entry.second; });
  return nearest;
}

}  // namespace weft
