// transpose_qkv and transpose_output: move attention heads into the batch axis and back.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

// Moves attention heads into the batch axis, for single-head attention (d2l.ai, section 11.5):
// reshapes x [batch, time, heads · d] to [batch · heads, time, d], with the heads of a sequence
// adjacent:
//   y[b · heads + h, t, j] = x[b, t, h · d + j]
// scaled_dot_product_attention does not need it, because it reads the heads in place. Throws
// ShapeError unless x has three axes, and ValueError unless num_heads divides the last axis.
//   Var y = transpose_qkv(x, 4);  // x [2, 5, 8], y [8, 5, 2]
template <class T>
WEFT_API Var<T> transpose_qkv(const Var<T>& x, Index num_heads);

// The inverse of transpose_qkv: reshapes x [batch · heads, time, d] to [batch, time, heads · d]
// (d2l.ai, section 11.5):
//   y[b, t, h · d + j] = x[b · heads + h, t, j]
// Throws ShapeError unless x has three axes, and ValueError unless num_heads divides the first
// axis.
//   Var y = transpose_output(x, 4);  // x [8, 5, 2], y [2, 5, 8]
template <class T>
WEFT_API Var<T> transpose_output(const Var<T>& x, Index num_heads);

}  // namespace weft
