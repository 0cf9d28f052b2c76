// The bf16 product for processors with AVX512-BF16.
// Included by definitions only.
#pragma once

#include "autograd/kernels/matrix_view.hpp"

namespace weft::avx512 {

// As weft::bf16_product. The processor must have AVX512-BF16.
void bf16_product(Index m, Index n, Index k, float alpha, const MatrixView<float>& a,
                  const MatrixView<float>& b, float beta, float* c, Index c_stride);

}  // namespace weft::avx512
