// row_product: products of a few rows with a matrix that is read once.
// Included by definitions only.
#pragma once

#include "weft/autograd/parallel.hpp"

namespace weft {

// True for so few rows that row_product is faster than matrix_product: most of the time goes into
// reading w.
constexpr bool prefers_row_product(Index m) { return m <= 16; }

// The number of rows of w, the columns of y, in a range of parallel_for.
constexpr Index row_product_grain(Index m, Index k) { return (grain_of(m * k) + 7) / 8 * 8; }

// y = alpha · x · wᵀ for x [m, k], w [n, k] and y [m, n], with these row strides. Runs on the
// calling thread. An element of y has the same bits whatever m and n are. The elements of w are of
// type T, or bf16 numbers, which give the same bits as the same numbers of type T.
template <class T, class W>
void row_product(Index m, Index n, Index k, T alpha, const T* x, Index x_stride, const W* w,
                 Index w_stride, T* y, Index y_stride);

}  // namespace weft
