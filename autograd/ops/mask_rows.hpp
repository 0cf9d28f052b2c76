// Masking of rows, with gradients.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

// x in the rows (along its last axis) where `kept` is true; zeros in the others, even where x is
// NaN, and these get no gradient. x [..., n], kept [...], result [..., n]. Throws ShapeError.
template <class T>
WEFT_API Var<T> mask_rows(const Var<T>& x, const Tensor<bool>& kept);

}  // namespace weft
