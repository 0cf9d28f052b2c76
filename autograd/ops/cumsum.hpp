// Cumulative sums, with gradients.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

// Position i of the axis is the sum of positions 0 … i of x, added in double. A negative axis
// counts from the end. Throws ShapeError for an axis that x does not have.
template <class T>
WEFT_API Var<T> cumsum(const Var<T>& x, Index axis);

}  // namespace weft
