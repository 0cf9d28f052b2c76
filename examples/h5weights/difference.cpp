#include "examples/h5weights/difference.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include <weft/autograd/error.hpp>
#include "examples/h5weights/numbers.hpp"

namespace weft::h5weights {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

void add(Difference& largest, double a, double b, Index position) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return;
  double absolute = std::abs(a - b), relative = absolute / std::max(std::abs(a), std::abs(b));
  if (!std::isfinite(a) || !std::isfinite(b)) absolute = relative = infinite;
  if (absolute > largest.absolute) {
    largest.absolute = absolute;
    largest.position = position;
  }
  largest.relative = std::max(largest.relative, relative);
}

Difference difference_of_numbers(const Numbers& a, const Numbers& b) {
  Difference largest;
  const Index step = a.rows_in_block();
  Index position = 0;
  for (Index first = 0; first < a.rows(); first += step) {
    const Index last = std::min(first + step, a.rows());
    const Tensor<double> left = a.read(first, last), right = b.read(first, last);
    for (Index i = 0; i < left.size(); ++i)
      add(largest, left.data()[i], right.data()[i], position++);
  }
  return largest;
}

}  // namespace

Difference difference_of(const StoredDataset& a, const StoredDataset& b) {
  const auto is_number = [](const StoredDataset& dataset) {
    const Kind kind = kind_of(dataset.type());
    return kind == Kind::floating || kind == Kind::integer || kind == Kind::wide_integer;
  };
  // Scalars of wide integers, such as seeds and fingerprints, are compared exactly.
  const auto is_wide = [](const StoredDataset& dataset) {
    return kind_of(dataset.type()) == Kind::wide_integer && dataset.shape().elements() == 1;
  };
  if (is_wide(a) && is_wide(b)) {
    const std::int64_t left = a.value<std::int64_t>(), right = b.value<std::int64_t>();
    if (left == right) return {};
    Difference difference;
    add(difference, static_cast<double>(left), static_cast<double>(right), 0);
    // Different integers may be equal as doubles.
    difference.absolute = std::max(difference.absolute, 1.0);
    return difference;
  }
  if (is_number(a) && is_number(b)) return difference_of_numbers(Numbers(a), Numbers(b));
  for (const StoredDataset* dataset : {&a, &b})
    if (kind_of(dataset->type()) != Kind::text)
      fail<FileError>(a.path(), "numbers or a string in both files",
                      str_cat(a.type(), " and ", b.type()));
  if (a.value<std::string>() == b.value<std::string>()) return {};
  return {.absolute = infinite, .position = 0, .relative = infinite};
}

}  // namespace weft::h5weights
