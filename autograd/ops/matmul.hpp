// Matrix products with gradients.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

struct MatmulOptions {
  // Use the matrices of a or b transposed.
  bool transpose_a = false;
  bool transpose_b = false;
};

// a · b for matrices [M, K] and [K, N], or for a batch of them: all axes except the last two equal,
// or a batch [..., M, K] times one matrix [K, N]. Result [..., M, N]. Throws ShapeError.
template <class T>
WEFT_API Var<T> matmul(const Var<T>& a, const Var<T>& b, const MatmulOptions& options = {});

}  // namespace weft
