// The steps of a softmax over one row, for every operation that has one inside.
// Included by definitions only.
#pragma once

#include <algorithm>
#include <limits>

#include "autograd/shape.hpp"
#include "autograd/vector_math.hpp"

namespace weft {

// What a row of scores adds up to: exp(x_j) summed is sum · exp(maximum).
template <class T>
struct RowSum {
  T maximum;
  T sum;
  // log Σ exp(x_j); -infinity for a row with nothing in it.
  T log() const { return maximum + std::log(sum); }
};

template <class T>
T row_maximum(const T* x, Index n) {
  T maximum = -std::numeric_limits<T>::infinity();
#pragma omp simd reduction(max : maximum)
  for (Index j = 0; j < n; ++j) maximum = x[j] > maximum ? x[j] : maximum;
  return maximum;
}

// y_j = exp(x_j - max x). `y` may be `x`. A row of -infinity alone gives zeros.
template <class T>
RowSum<T> exponentiate_row(const T* x, T* y, Index n) {
  const T maximum = row_maximum(x, n);
  if (maximum == -std::numeric_limits<T>::infinity()) {
    // Nothing is seen, or what is seen is not a number, which must show.
    for (Index j = 0; j < n; ++j) y[j] = std::isnan(x[j]) ? x[j] : T{0};
    return {maximum, T{0}};
  }
  T sum = 0;
#pragma omp simd reduction(+ : sum)
  for (Index j = 0; j < n; ++j) {
    const T e = fast_exp(x[j] - maximum);
    y[j] = e;
    sum += e;
  }
  return {maximum, sum};
}

// Divides what exponentiate_row wrote by its sum; zeros stay zeros.
template <class T>
void normalize_row(T* y, Index n, const RowSum<T>& row) {
  const T factor = row.sum == T{0} ? T{0} : T{1} / row.sum;
#pragma omp simd
  for (Index j = 0; j < n; ++j) y[j] *= factor;
}

// The first `limit` scores with -infinity where `seen` is false: `scores` itself when `seen` is
// null, otherwise a copy in `room`. `room` may be `scores`.
template <class T>
const T* hide_keys(const T* scores, const bool* seen, Index limit, T* room) {
  if (!seen) return scores;
  for (Index j = 0; j < limit; ++j)
    room[j] = seen[j] ? scores[j] : -std::numeric_limits<T>::infinity();
  return room;
}

}  // namespace weft
