// Matrix products with gradients.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

struct MatmulOptions {
  bool transpose_a = false;  // aᵀ · b, for a [..., K, M]
  bool transpose_b = false;  // a · bᵀ, for b [..., N, K]
};

// `y = a · b` for matrices [M, K] and [K, N], or for a batch of them: all axes except the last two
// equal, or a batch [..., M, K] times one matrix [K, N]. Result [..., M, N] (torch.matmul). Throws
// ShapeError.
//   Var scores = matmul(q, k, {.transpose_b = true});  // scores [2, 4, 5]
template <class T>
WEFT_API Var<T> matmul(const Var<T>& a, const Var<T>& b, const MatmulOptions& options = {});

}  // namespace weft
