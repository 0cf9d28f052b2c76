// add_column_sums: the gradient of a bias, from the gradients of the rows it was added to.
// Included by definitions only.
#pragma once

#include "autograd/kernels/arrays.hpp"

namespace weft {

// Adds the column sums of a matrix [rows, n] to `sums` [n]: first within ranges of rows, then over
// the ranges in order.
template <class T>
void add_column_sums(const Pass<T>& pass, const Tensor<T>& matrix, Index rows, Index n,
                     const Gradient<T>& sums) {
  const Index grain = std::max<Index>(grain_of(n), (rows + 63) / 64);
  const Index ranges = std::max<Index>((rows + grain - 1) / grain, 1);
  Tensor<T> partial = pass.zeros({ranges, n});
  parallel_for(rows, grain, [&](Index begin, Index end) {
    const Index range = begin / grain;
    auto range_sum = array(partial, range * n, (range + 1) * n);
    for (Index row = begin; row < end; ++row) range_sum += array(matrix, row * n, (row + 1) * n);
  });
  auto total = array(partial, 0, n);
  for (Index range = 1; range < ranges; ++range)
    total += array(partial, range * n, (range + 1) * n);
  accumulate(sums, 0, n, total);
}

}  // namespace weft
