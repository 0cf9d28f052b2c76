// Cumulative sums, with gradients.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

// Returns the cumulative sums `y_i = Σ_{j ≤ i} x_j` along an axis of x, of any shape
// (torch.cumsum). The result has the same shape. The sums are accumulated in double. A negative
// axis counts from the end. Throws ShapeError if x has no such axis.
//   Var y = cumsum(tape.constant(Tensor<float>({3}, {1, 2, 3})), 0);  // [1, 3, 6]
template <class T>
WEFT_API Var<T> cumsum(const Var<T>& x, Index axis);

}  // namespace weft
