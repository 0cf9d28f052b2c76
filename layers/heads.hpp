// transpose_qkv and transpose_output: move attention heads into the batch axis and back.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

// Reshapes x [batch, time, heads · d] to [batch · heads, time, d], with the heads of a sequence
// adjacent (d2l.ai, section 11.5). For single-head attention; scaled_dot_product_attention does not
// need it, as it reads the heads in place. Throws ShapeError unless x has three axes, and
// ValueError unless num_heads divides the last.
template <class T>
WEFT_API Var<T> transpose_qkv(const Var<T>& x, Index num_heads);

// The inverse: reshapes x [batch · heads, time, d] to [batch, time, heads · d]. Throws ShapeError
// unless x has three axes, and ValueError unless num_heads divides the first.
template <class T>
WEFT_API Var<T> transpose_output(const Var<T>& x, Index num_heads);

}  // namespace weft
