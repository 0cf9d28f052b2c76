// Pearson's chi-square test of drawn tokens.
#pragma once

#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

namespace weft {

// Whether the numbers of draws of each token fit their probabilities: no token of probability 0 was
// drawn, and χ² is at most 5 standard deviations above its mean. Tokens that are expected fewer
// than five times count together.
inline bool is_plausible(const std::vector<int>& counts, const std::vector<double>& probabilities) {
  const double draws = std::accumulate(counts.begin(), counts.end(), 0.0);
  double chi_square = 0.0, rare_count = 0.0, rare_expected = 0.0, cells = 0.0;
  const auto add_cell = [&](double count, double expected) {
    chi_square += (count - expected) * (count - expected) / expected;
    ++cells;
  };
  for (std::size_t token = 0; token < counts.size(); ++token) {
    const double count = counts[token], expected = probabilities[token] * draws;
    if (expected == 0.0 && count > 0.0) return false;
    if (expected >= 5.0) {
      add_cell(count, expected);
    } else {
      rare_count += count;
      rare_expected += expected;
    }
  }
  if (rare_expected >= 5.0)
    add_cell(rare_count, rare_expected);
  else if (rare_count > 30.0)
    return false;
  const double freedom = cells - 1.0;
  return chi_square <= freedom + 5.0 * std::sqrt(2.0 * freedom) + 1e-9;
}

}  // namespace weft
