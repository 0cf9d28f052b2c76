// Cumulative sums, with gradients.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

// `y_i = Σ_{j ≤ i} x_j` over an axis, added in double: x of any shape, result of the same shape
// (torch.cumsum). A negative axis counts from the end. Throws ShapeError for an axis that x does
// not have.
//   Var y = cumsum(tape.constant(Tensor<float>({3}, {1, 2, 3})), 0);  // [1, 3, 6]
template <class T>
WEFT_API Var<T> cumsum(const Var<T>& x, Index axis);

}  // namespace weft
