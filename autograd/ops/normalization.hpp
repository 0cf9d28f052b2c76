// Normalization of rows, with gradients.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

// y = (x - mean) / √(variance + eps) · weight + bias over the last axis, the variance with divisor
// n (Ba, Kiros and Hinton, 2016). x [..., n], weight [n], bias [n]. Throws ShapeError, and
// ValueError unless eps ≥ 0.
template <class T>
WEFT_API Var<T> layer_norm(const Var<T>& x, const Var<T>& weight, const Var<T>& bias,
                           double eps = 1e-5);

// y = x / √(mean(x²) + eps) · weight over the last axis (Zhang and Sennrich, 2019). x [..., n],
// weight [n]. Throws ShapeError, and ValueError unless eps ≥ 0.
template <class T>
WEFT_API Var<T> rms_norm(const Var<T>& x, const Var<T>& weight, double eps = 1e-5);

// x / ‖x‖ over the last axis. A row of zeros stays zeros and gets no gradient. x [..., n]. Throws
// ShapeError.
template <class T>
WEFT_API Var<T> normalize(const Var<T>& x);

}  // namespace weft
