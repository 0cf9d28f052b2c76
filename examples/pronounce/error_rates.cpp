#include "examples/pronounce/error_rates.hpp"

#include <algorithm>
#include <iomanip>
#include <numeric>

#include <weft/autograd/error.hpp>

namespace weft::pronounce {

Index edit_distance(const Phones& a, const Phones& b) {
  // row[j]: the distance between the first i phones of a and the first j phones of b.
  std::vector<Index> row(b.size() + 1);
  std::iota(row.begin(), row.end(), Index{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    Index diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const Index substitution = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substitution, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

void ErrorRates::add(const Phones& prediction, const std::vector<Phones>& pronunciations) {
  if (pronunciations.empty()) fail<ValueError>("error rates", "at least one pronunciation", "none");
  const Phones* closest = nullptr;
  Index errors = 0;
  for (const Phones& pronunciation : pronunciations) {
    const Index distance = edit_distance(prediction, pronunciation);
    if (closest && distance >= errors) continue;
    closest = &pronunciation;
    errors = distance;
  }
  words_ += 1;
  wrong_words_ += errors > 0 ? 1 : 0;
  phones_ += static_cast<Index>(closest->size());
  phone_errors_ += errors;
}

double ErrorRates::percent(Index count, Index total) {
  return total == 0 ? 0.0 : 100.0 * static_cast<double>(count) / static_cast<double>(total);
}

std::string ErrorRates::to_string() const {
  return str_cat(std::fixed, std::setprecision(2), "word error rate ", word_error_rate(),
                 " %  phone error rate ", phone_error_rate(), " %  words ", words_);
}

}  // namespace weft::pronounce
