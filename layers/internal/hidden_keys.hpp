// zero_hidden_keys: zeros in place of keys that are masked for all queries.
// Included by definitions only.
#pragma once

#include "weft/autograd/tape.hpp"
#include "autograd/ops/internal/mask_view.hpp"

namespace weft {

// The keys (or values) x [batch, num_keys, channels], with zeros in place of those that are masked
// for all queries if any of these is not finite. A masked NaN does not reach the result of
// attention, but it would reach the gradient of a projection's weight, as 0 · NaN.
template <class T>
Var<T> zero_hidden_keys(const Var<T>& x, const MaskView& mask);

}  // namespace weft
