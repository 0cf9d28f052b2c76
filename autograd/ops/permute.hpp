// Axes in another order, with gradients. Axes may be negative and then count from the end.
#pragma once

#include <initializer_list>
#include <span>

#include "weft/autograd/export.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

// The axes in the given order: axis i of the result is axis axes[i] of x, of any shape
// (torch.permute); for axes {2, 0, 1}
//   y[k, i, j] = x[i, j, k]
// Throws ShapeError unless each axis is given once.
//   Var y = permute(x, {2, 0, 1});  // x [2, 3, 4], y [4, 2, 3]
template <class T>
WEFT_API Var<T> permute(const Var<T>& x, std::span<const Index> axes);
template <class T>
Var<T> permute(const Var<T>& x, std::initializer_list<Index> axes) {
  return permute(x, std::span(axes.begin(), axes.size()));
}
// Two axes of x, of any shape, swapped: of a matrix `y = xᵀ` (torch.transpose). Throws ShapeError
// for an axis that x does not have.
//   Var y = transpose(x);  // x [2, 3, 4], y [2, 4, 3]
template <class T>
WEFT_API Var<T> transpose(const Var<T>& x, Index axis1 = -2, Index axis2 = -1);

}  // namespace weft
