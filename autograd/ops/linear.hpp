// An affine map of the last axis, with gradients.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/autograd/ops/activation.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

// activation(x · weightᵀ + bias): x [..., in], weight [out, in], bias [out], result [..., out].
// One fused operation. Throws ShapeError.
template <class T>
WEFT_API Var<T> linear(const Var<T>& x, const Var<T>& weight, const Var<T>& bias,
                       Activation activation = Activation::none);
// The same without a bias.
template <class T>
WEFT_API Var<T> linear(const Var<T>& x, const Var<T>& weight,
                       Activation activation = Activation::none);

}  // namespace weft
