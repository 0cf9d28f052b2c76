// Losses: scalars to minimize, with gradients.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

// `loss = mean((prediction - target)²)` over all elements. Equal shapes. Result [] (torch's
// mse_loss). Throws ShapeError for shapes that differ or have no elements.
//   Var loss = mse_loss(model(x), tape.constant(Y));
template <class T>
WEFT_API Var<T> mse_loss(const Var<T>& prediction, const Var<T>& target);

// The mean over all elements, for logits x and targets t in 0 … 1 of equal shapes, of
//   -t log σ(x) - (1 - t) log(1 - σ(x))
// Result [] (torch's function of this name). Finite for any finite logits up to 1e38. The targets
// get no gradient. Throws ShapeError for shapes that differ or have no elements, and ValueError for
// a target outside 0 … 1, naming its position.
//   Var loss = binary_cross_entropy_with_logits(x, Tensor<float>({2}, {1, 0}));  // x [2]
template <class T>
WEFT_API Var<T> binary_cross_entropy_with_logits(const Var<T>& logits, const Tensor<T>& targets);

}  // namespace weft
