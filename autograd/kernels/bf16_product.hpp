// bf16_product: products of matrices whose elements are rounded to bf16.
// Included by definitions only.
#pragma once

#include "autograd/kernels/matrix_view.hpp"

namespace weft {

// c = alpha · a · b + beta · c, as matrix_product, with the elements of a and b rounded to bf16 and
// their products added in single precision. The bits of an element depend on its row of a, its
// column of b and the processor only.
void bf16_product(Index m, Index n, Index k, float alpha, const MatrixView<float>& a,
                  const MatrixView<float>& b, float beta, float* c, Index c_stride);

}  // namespace weft
