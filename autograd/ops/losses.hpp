// Losses: scalars to minimize, with gradients.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

// Returns `loss = mean((prediction - target)²)` over all elements (torch's mse_loss). prediction
// and target have the same shape; the result is a scalar []. Throws ShapeError if the shapes differ
// or have no elements.
//   Var loss = mse_loss(model(x), tape.constant(Y));
template <class T>
WEFT_API Var<T> mse_loss(const Var<T>& prediction, const Var<T>& target);

// Returns the binary cross entropy of logits x and targets t of the same shape, with 0 ≤ t ≤ 1
// (torch's function of the same name). It is the mean over all elements of
//   -t log σ(x) - (1 - t) log(1 - σ(x))
// The result is a scalar [], finite for any finite logits up to 1e38. The targets get no gradient.
// Throws ShapeError if the shapes differ or have no elements. Throws ValueError for a target
// outside [0, 1], naming its position.
//   Var loss = binary_cross_entropy_with_logits(x, Tensor<float>({2}, {1, 0}));  // x [2]
template <class T>
WEFT_API Var<T> binary_cross_entropy_with_logits(const Var<T>& logits, const Tensor<T>& targets);

}  // namespace weft
