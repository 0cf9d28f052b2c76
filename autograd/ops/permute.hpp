// Axes in another order, with gradients. Axes may be negative and then count from the end.
#pragma once

#include <initializer_list>
#include <span>

#include "weft/autograd/export.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

// The axes in the given order: axis i of the result is axis axes[i] of x. Throws ShapeError unless
// each axis is given once.
template <class T>
WEFT_API Var<T> permute(const Var<T>& x, std::span<const Index> axes);
template <class T>
Var<T> permute(const Var<T>& x, std::initializer_list<Index> axes) {
  return permute(x, std::span(axes.begin(), axes.size()));
}
// Two axes swapped. Throws ShapeError for an axis that x does not have.
template <class T>
WEFT_API Var<T> transpose(const Var<T>& x, Index axis1 = -2, Index axis2 = -1);

}  // namespace weft
