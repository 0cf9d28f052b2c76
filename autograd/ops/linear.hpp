// An affine map of the last axis, with gradients.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/autograd/ops/activation.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

// `y = activation(x · weightᵀ + bias)`, one fused operation: x [..., in], weight [out, in], bias
// [out], result [..., out] (torch's linear). Throws ShapeError.
//   Var y = linear(x, weight, bias, Activation::relu);  // x [2, 3], weight [5, 3], y [2, 5]
template <class T>
WEFT_API Var<T> linear(const Var<T>& x, const Var<T>& weight, const Var<T>& bias,
                       Activation activation = Activation::none);
// `y = activation(x · weightᵀ)`: the same without a bias, with the same shapes and errors.
//   Var y = linear(x, weight);
template <class T>
WEFT_API Var<T> linear(const Var<T>& x, const Var<T>& weight,
                       Activation activation = Activation::none);

}  // namespace weft
