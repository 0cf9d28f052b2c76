// The steps of a softmax over one row, shared by all operations that compute one.
// Included by definitions only.
#pragma once

#include "autograd/kernels/vector.hpp"
#include "autograd/kernels/vector_math.hpp"

namespace weft {

// The maximum and the sum of a row: Σ exp(x_j) = sum · exp(maximum).
template <class T>
struct RowSum {
  T maximum, sum;
  // Returns the maximum and sum of an empty row.
  static RowSum empty_row() { return {-std::numeric_limits<T>::infinity(), T{0}}; }
  // Returns log Σ exp(x_j); -infinity for an empty or fully masked row.
  T log() const { return maximum + std::log(sum); }
  // Returns the factor that normalizes exp(x_j - maximum); 0 for an empty or fully masked row.
  T factor() const { return sum == T{0} ? T{0} : T{1} / sum; }
};

// One step of an online softmax. `row` describes the parts of the row before x. Sets y_j = exp(x_j
// - maximum), with the maximum over all parts including x, and updates `row` to include x. `y` may
// be `x`. If all elements are -infinity, y is zeros. Returns the factor by which the earlier parts
// of y must be multiplied.
template <class T>
T exponentiate_part(const T* x, T* y, Index n, RowSum<T>& row) {
  const T maximum = std::max(row.maximum, row_maximum(x, n));
  if (maximum == -std::numeric_limits<T>::infinity()) {
    // All elements are masked, or NaN, which must propagate.
    for (Index j = 0; j < n; ++j) y[j] = std::isnan(x[j]) ? x[j] : T{0};
    return T{1};
  }
  map_row(
      n, y, [maximum](const auto& part) { return fast_exp(part - maximum); }, x);
  const T rescale = fast_exp(row.maximum - maximum);
  row = {maximum, row.sum * rescale + sum_of_row(n, identity, y)};
  return rescale;
}

// Sets y_j = exp(x_j - max x) for a whole row.
template <class T>
RowSum<T> exponentiate_row(const T* x, T* y, Index n) {
  auto row = RowSum<T>::empty_row();
  exponentiate_part(x, y, n, row);
  return row;
}

// Divides the result of exponentiate_row by its sum; zeros remain zeros.
template <class T>
void normalize_row(T* y, Index n, const RowSum<T>& row) {
  map_row(
      n, y, [factor = row.factor()](const auto& part) { return part * factor; }, y);
}

}  // namespace weft
