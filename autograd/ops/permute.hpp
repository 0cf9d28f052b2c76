// Reordering of axes, with gradients. Negative axes count from the end.
#pragma once

#include <initializer_list>
#include <span>

#include "weft/autograd/export.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

// Reorders the axes of x, of any shape: axis i of the result is axis axes[i] of x (torch.permute).
// For axes {2, 0, 1}:
//   y[k, i, j] = x[i, j, k]
// Throws ShapeError unless each axis is given exactly once.
//   Var y = permute(x, {2, 0, 1});  // x [2, 3, 4], y [4, 2, 3]
template <class T>
WEFT_API Var<T> permute(const Var<T>& x, std::span<const Index> axes);
template <class T>
Var<T> permute(const Var<T>& x, std::initializer_list<Index> axes) {
  return permute(x, std::span(axes.begin(), axes.size()));
}
// Swaps two axes of x, of any shape (torch.transpose); for a matrix, `y = xᵀ`. Throws ShapeError if
// x has no such axis.
//   Var y = transpose(x);  // x [2, 3, 4], y [2, 4, 3]
template <class T>
WEFT_API Var<T> transpose(const Var<T>& x, Index axis1 = -2, Index axis2 = -1);

}  // namespace weft
