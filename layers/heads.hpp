// transpose_qkv and transpose_output: the heads of an attention as sequences of their own.
#pragma once

#include "weft/autograd/tape.hpp"

namespace weft {

// x [batch, time, heads · d] as [batch · heads, time, d]: what each head sees of each sequence,
// heads of one sequence side by side (d2l.ai, section 11.5). For attention that knows of one head
// only; scaled_dot_product_attention gets along without it, as it reads the heads where they lie.
// Throws ShapeError unless x has three axes, and ValueError unless num_heads divides the last.
template <class T>
Var<T> transpose_qkv(const Var<T>& x, Index num_heads);

// The way back: x [batch · heads, time, d] as [batch, time, heads · d]. Throws ShapeError unless x
// has three axes, and ValueError unless num_heads divides the first.
template <class T>
Var<T> transpose_output(const Var<T>& x, Index num_heads);

}  // namespace weft
