// Root mean square normalization of rows, with gradients.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

// y = x / √(mean(x²) + eps) · weight over the last axis (Zhang and Sennrich, 2019). x [..., n],
// weight [n]. Throws ShapeError, and ValueError unless eps ≥ 0.
template <class T>
WEFT_API Var<T> rms_norm(const Var<T>& x, const Var<T>& weight, double eps = 1e-5);

}  // namespace weft
