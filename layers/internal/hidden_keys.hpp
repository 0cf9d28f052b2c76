// Keys that no query sees hold padding, which may be anything.
// Included by definitions only.
#pragma once

#include "weft/autograd/tape.hpp"
#include "autograd/ops/internal/mask_view.hpp"

namespace weft {

// The keys (or values) x [batch, num_keys, channels], with zeros in place of those that no query
// sees when one of these is not finite. They would not reach what attention gives, but the gradient
// of a projection's weight: as 0 · NaN.
template <class T>
Var<T> zero_hidden_keys(const Var<T>& x, const MaskView& mask);

}  // namespace weft
