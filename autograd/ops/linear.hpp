// An affine map of the last axis, with gradients.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/autograd/ops/activation.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

// Computes `y = activation(x · weightᵀ + bias)` as one fused operation (torch's linear): x
// [..., in], weight [out, in], bias [out], result [..., out]. Throws ShapeError if the shapes do
// not match.
//   Var y = linear(x, weight, bias, Activation::relu);  // x [2, 3], weight [5, 3], y [2, 5]
template <class T>
WEFT_API Var<T> linear(const Var<T>& x, const Var<T>& weight, const Var<T>& bias,
                       Activation activation = Activation::none);
// Computes `y = activation(x · weightᵀ)`, without a bias: x [..., in], weight [out, in], result
// [..., out]. Throws ShapeError if the shapes do not match.
//   Var y = linear(x, weight);
template <class T>
WEFT_API Var<T> linear(const Var<T>& x, const Var<T>& weight,
                       Activation activation = Activation::none);

}  // namespace weft
