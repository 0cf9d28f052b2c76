// Losses: scalars to minimize, with gradients.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

// The mean of (prediction - target)² over all elements. Equal shapes. Result []. Throws ShapeError
// for shapes that differ or have no elements.
template <class T>
WEFT_API Var<T> mse_loss(const Var<T>& prediction, const Var<T>& target);

// The mean of -t log σ(x) - (1 - t) log(1 - σ(x)) over all elements, for logits x and targets t in
// 0 … 1 of equal shapes. Result []. Finite for any finite logits up to 1e38. The targets get no
// gradient. Throws ShapeError for shapes that differ or have no elements, and ValueError for a
// target outside 0 … 1, naming its position.
template <class T>
WEFT_API Var<T> binary_cross_entropy_with_logits(const Var<T>& logits, const Tensor<T>& targets);

}  // namespace weft
