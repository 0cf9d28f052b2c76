// row_product: products of a few rows with a matrix that is read once.
// Included by definitions only.
#pragma once

#include "weft/autograd/parallel.hpp"

namespace weft {

// Returns true if there are so few rows that row_product is faster than matrix_product: most of its
// time is spent reading w.
constexpr bool prefers_row_product(Index m) { return m <= 16; }

// Returns the number of rows of w, which are columns of y, in a range of parallel_for.
constexpr Index row_product_grain(Index m, Index k) { return (grain_of(m * k) + 7) / 8 * 8; }

// Computes y = alpha · x · wᵀ for x [m, k], w [n, k] and y [m, n], with the given row strides. Runs
// on the calling thread. The bits of an element of y do not depend on m and n. The elements of w
// are of type T or bf16; both yield the same bits for the same values.
template <class T, class W>
void row_product(Index m, Index n, Index k, T alpha, const T* x, Index x_stride, const W* w,
                 Index w_stride, T* y, Index y_stride);

}  // namespace weft
