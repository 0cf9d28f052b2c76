// Rows replaced by zeros, with gradients.
#pragma once

#include "weft/autograd/tape.hpp"

namespace weft {

// x in the rows (along its last axis) where `kept` is true, zeros in the others, whatever x holds
// there (NaN too); those get no gradient. `kept` has x's shape but for the last axis. Throws
// ShapeError.
template <class T>
Var<T> mask_rows(const Var<T>& x, const Tensor<bool>& kept);

}  // namespace weft
