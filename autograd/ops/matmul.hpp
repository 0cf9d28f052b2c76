// Matrix products with gradients.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

struct MatmulOptions {
  bool transpose_a = false;  // compute aᵀ · b, for a [..., K, M]
  bool transpose_b = false;  // compute a · bᵀ, for b [..., N, K]
};

// Computes `y = a · b` for matrices [M, K] and [K, N], or for batches of them whose other axes are
// equal, or for a batch [..., M, K] and a single matrix [K, N]. Result [..., M, N] (torch.matmul).
// Throws ShapeError if the shapes do not match.
//   Var scores = matmul(q, k, {.transpose_b = true});  // scores [2, 4, 5]
template <class T>
WEFT_API Var<T> matmul(const Var<T>& a, const Var<T>& b, const MatmulOptions& options = {});

}  // namespace weft
