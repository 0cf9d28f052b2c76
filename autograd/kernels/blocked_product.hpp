// blocked_product: products of matrices that fit into a core's caches.
// Included by definitions only.
#pragma once

#include "autograd/kernels/matrix_view.hpp"

namespace weft {

// True where blocked_product is faster than a library: libraries pay for their calls and for
// copies that only a large product earns back.
bool is_for_blocks(Index m, Index n, Index k);

// c = alpha · a · b + beta · c, as matrix_product. Works for all sizes.
template <class T>
void blocked_product(Index m, Index n, Index k, T alpha, const MatrixView<T>& a,
                     const MatrixView<T>& b, T beta, T* c, Index c_stride);

}  // namespace weft
