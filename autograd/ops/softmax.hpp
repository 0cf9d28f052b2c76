// Softmax over the last axis, with gradients.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/autograd/ops/mask.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

// y_j = exp(x_j) / Σ_k exp(x_k) over the last axis, for x of any rank from 1. Finite for any finite
// x. An empty last axis gives an empty result.
template <class T>
WEFT_API Var<T> softmax(const Var<T>& x);

// log(softmax(x)), computed without forming the softmax.
template <class T>
WEFT_API Var<T> log_softmax(const Var<T>& x);

// Softmax over the keys that each query may attend to; masked keys get weight 0, whatever their
// scores (even NaN). scores [batch, queries, keys] or [batch, heads, queries, keys]. A row with
// every key masked is all zeros. Throws ShapeError or ValueError for a mask that does not match the
// scores.
template <class T>
WEFT_API Var<T> masked_softmax(const Var<T>& scores, const Mask& mask);

}  // namespace weft
