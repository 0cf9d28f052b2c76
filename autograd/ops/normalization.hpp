// Normalization of rows, with gradients.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

// Applies layer normalization over the last axis (Ba, Kiros and Hinton, 2016); the variance has
// divisor n:
//   y = (x - mean(x)) / √(variance(x) + eps) · weight + bias
// x [..., n], weight [n], bias [n], result of x's shape. Throws ShapeError if the shapes do not
// match, and ValueError unless eps ≥ 0.
//   Var y = layer_norm(x, weight, bias);  // x [2, 3], weight [3], bias [3]
template <class T>
WEFT_API Var<T> layer_norm(const Var<T>& x, const Var<T>& weight, const Var<T>& bias,
                           double eps = 1e-5);

// Applies root mean square normalization over the last axis (Zhang and Sennrich, 2019):
//   y = x / √(mean(x²) + eps) · weight
// x [..., n], weight [n], result of x's shape. Throws ShapeError if the shapes do not match, and
// ValueError unless eps ≥ 0.
//   Var y = rms_norm(x, weight);  // x [2, 3], weight [3]
template <class T>
WEFT_API Var<T> rms_norm(const Var<T>& x, const Var<T>& weight, double eps = 1e-5);

// Divides each vector along the last axis by its norm, `y = x / ‖x‖`: x [..., n], result of the
// same shape (torch's normalize). A row of zeros remains zeros, and its gradient is 0. Throws
// ShapeError if x is a scalar.
//   Var cosines = matmul(normalize(a), normalize(b), {.transpose_b = true});
template <class T>
WEFT_API Var<T> normalize(const Var<T>& x);

}  // namespace weft
