// copy_transposed: copies a matrix that is transposed in memory, as rows of whole vectors.
// Included by definitions only.
#pragma once

#include <algorithm>

#include "autograd/kernels/vector.hpp"

namespace weft {
namespace detail {

// Interleaves the first or the last two elements of x and y: x0 y0 x1 y1, or x2 y2 x3 y3.
template <bool last, class Four>
Four interleave(const Four& x, const Four& y) {
  constexpr Index i = last ? 2 : 0;
  return shuffle<i, i + 4, i + 1, i + 5>(x, y);
}

// Copies rows [0, 4) and columns [0, 4) of alpha · b, where b is transposed in memory. If b has
// fewer columns, repeats the last one.
template <class T>
void copy_transposed_4x4(Index columns, T alpha, const T* b, Index b_stride, T* to,
                         Index to_stride) {
  using Four = Vector<T, 4 * sizeof(T)>;
  Four rows[4];
  for (Index j = 0; j < 4; ++j)
    rows[j] = alpha * load<4 * sizeof(T)>(b + std::min(j, columns - 1) * b_stride);
  // Interleaving twice transposes the block.
  const Four even[] = {interleave<false>(rows[0], rows[2]), interleave<true>(rows[0], rows[2])};
  const Four odd[] = {interleave<false>(rows[1], rows[3]), interleave<true>(rows[1], rows[3])};
  const auto store_column = [&](Index j, const Four& column) {
    store<T, 4 * sizeof(T)>(column, to + j * to_stride);
  };
  for (Index half = 0; half < 2; ++half) {
    store_column(2 * half, interleave<false>(even[half], odd[half]));
    store_column(2 * half + 1, interleave<true>(even[half], odd[half]));
  }
}

}  // namespace detail

// Copies rows [0, k) and columns [0, columns) of alpha · b, where b is transposed in memory, to
// rows of `width` elements, a multiple of 4. Part of the padding beyond the columns is written,
// too.
template <class T>
void copy_transposed(Index k, Index columns, T alpha, const T* b, Index b_stride, T* to,
                     Index width) {
  const Index k_whole = k / 4 * 4;
  for (Index j = 0; j < columns; j += 4)
    for (Index p = 0; p < k_whole; p += 4)
      detail::copy_transposed_4x4(columns - j, alpha, b + j * b_stride + p, b_stride,
                                  to + p * width + j, width);
  for (Index j = 0; j < columns; ++j)
    for (Index p = k_whole; p < k; ++p) to[p * width + j] = alpha * b[j * b_stride + p];
}

}  // namespace weft
