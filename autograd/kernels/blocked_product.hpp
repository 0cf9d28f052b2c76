// blocked_product: products of matrices that fit into a core's caches.
// Included by definitions only.
#pragma once

#include "autograd/kernels/matrix_view.hpp"

namespace weft {

// Returns true if blocked_product is faster than a library, whose call overhead and packing only
// pay off for large products.
bool prefers_blocked_product(Index m, Index n, Index k);

// Computes c = alpha · a · b + beta · c like matrix_product, for all sizes.
template <class T>
void blocked_product(Index m, Index n, Index k, T alpha, const MatrixView<T>& a,
                     const MatrixView<T>& b, T beta, T* c, Index c_stride);

}  // namespace weft
