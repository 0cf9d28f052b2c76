// The steps of a softmax over one row, for every operation that has one inside.
// Included by definitions only.
#pragma once

#include "autograd/kernels/vector.hpp"
#include "autograd/kernels/vector_math.hpp"

namespace weft {

// What a row of scores adds up to: exp(x_j) summed is sum · exp(maximum).
template <class T>
struct RowSum {
  T maximum, sum;
  // Of no numbers at all.
  static RowSum nothing() { return {-std::numeric_limits<T>::infinity(), T{0}}; }
  // log Σ exp(x_j); -infinity for a row with nothing in it.
  T log() const { return maximum + std::log(sum); }
  // What makes exp(x_j - maximum) a weight; 0 for a row with nothing in it.
  T factor() const { return sum == T{0} ? T{0} : T{1} / sum; }
};

// Goes on with a row, `row` being the part before x: y_j = exp(x_j - maximum), with the maximum of
// all so far, and `row` then the sum of all so far. `y` may be `x`. A row of -infinity alone gives
// zeros. Returns what the y of the parts before are to be multiplied with.
template <class T>
T exponentiate_part(const T* x, T* y, Index n, RowSum<T>& row) {
  const T maximum = std::max(row.maximum, row_maximum(x, n));
  if (maximum == -std::numeric_limits<T>::infinity()) {
    // Nothing is seen, or what is seen is not a number, which must show.
    for (Index j = 0; j < n; ++j) y[j] = std::isnan(x[j]) ? x[j] : T{0};
    return T{1};
  }
  map_row(
      n, y, [maximum](const auto& part) { return fast_exp(part - maximum); }, x);
  const T before = fast_exp(row.maximum - maximum);
  row = {maximum, row.sum * before + sum_of_row(n, same, y)};
  return before;
}

// y_j = exp(x_j - max x) of a whole row.
template <class T>
RowSum<T> exponentiate_row(const T* x, T* y, Index n) {
  auto row = RowSum<T>::nothing();
  exponentiate_part(x, y, n, row);
  return row;
}

// Divides what exponentiate_row wrote by its sum; zeros stay zeros.
template <class T>
void normalize_row(T* y, Index n, const RowSum<T>& row) {
  map_row(
      n, y, [factor = row.factor()](const auto& part) { return part * factor; }, y);
}

}  // namespace weft
