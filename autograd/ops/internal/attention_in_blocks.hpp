// Scaled dot-product attention of short sequences, in blocks of as many queries as a vector has
// lanes.
// Included by definitions only.
#pragma once

#include "weft/autograd/tape.hpp"
#include "autograd/ops/internal/attention_head.hpp"

namespace weft {

// True when blocks are faster than tiles.
template <class T>
bool prefers_blocks(const Attention<T>& attention);

// Writes the result to y, and the weights [B, H, Q, K] before dropout to `weights`, unless null.
// Returns them as backward needs them: with the sequences so short, they are no larger than the
// inputs.
template <class T>
Tensor<T> attend_in_blocks(const Attention<T>& attention, const Pass<T>& pass, Tensor<T>& y,
                           T* weights);

// Adds to the gradients of queries, keys and values; `p` is what attend_in_blocks returned.
template <class T>
void add_gradients_in_blocks(const Attention<T>& attention, const Pass<T>& pass, const Tensor<T>& p,
                             const Tensor<T>& dy, const Gradient<T>& dq, const Gradient<T>& dk,
                             const Gradient<T>& dv);

}  // namespace weft
