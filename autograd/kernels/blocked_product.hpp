// blocked_product: products of matrices that fit into a core's caches.
// Included by definitions only.
#pragma once

#include "autograd/kernels/matrix_view.hpp"

namespace weft {

// True when blocked_product is faster than a library: the call overhead and the packing of a
// library only pay off for large products.
bool prefers_blocked_product(Index m, Index n, Index k);

// c = alpha · a · b + beta · c, as matrix_product, for all sizes.
template <class T>
void blocked_product(Index m, Index n, Index k, T alpha, const MatrixView<T>& a,
                     const MatrixView<T>& b, T beta, T* c, Index c_stride);

}  // namespace weft
