// Sums over the rows of matrices: the gradients of biases and of the weights of norms.
#pragma once

#include "autograd/kernels/arrays.hpp"

namespace weft {

// Returns the sums [n] of n columns over all rows. body(begin, end, sums) adds rows [begin, end) to
// the n sums; `cost` is the cost of one row. Rows are summed within ranges, and then the ranges in
// order, so the bits do not depend on the number of threads.
template <class T, class Body>
Tensor<T> sum_over_rows(const Tape<T>& tape, Index rows, Index n, Index cost, const Body& body) {
  const Index grain = std::max<Index>(grain_of(cost), (rows + 63) / 64);
  const Index ranges = std::max<Index>((rows + grain - 1) / grain, 1);
  Tensor<T> partial = tape.zeros({ranges, n});
  parallel_for(rows, grain, [&](Index begin, Index end) {
    body(begin, end, partial.data() + begin / grain * n);
  });
  auto total = array(partial, 0, n);
  for (Index range = 1; range < ranges; ++range)
    total += array(partial, range * n, (range + 1) * n);
  return partial;
}

// Adds the sums of the columns of a matrix [rows, n] to a gradient.
template <class T>
void add_column_sums(const Tape<T>& tape, const Tensor<T>& matrix, Index rows, Index n,
                     const Gradient<T>& gradient) {
  const Tensor<T> sums = sum_over_rows(tape, rows, n, n, [&](Index begin, Index end, T* into) {
    for (Index row = begin; row < end; ++row)
      array(into, 0, n) += array(matrix, row * n, (row + 1) * n);
  });
  accumulate(gradient, 0, n, array(sums, 0, n));
}

}  // namespace weft
