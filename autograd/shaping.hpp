// Operations that move elements without changing them, with gradients.
// Axes may be negative and then count from the end.
#pragma once

#include <span>
#include <vector>

#include "autograd/tape.hpp"

namespace weft {

// The same elements under another shape; one size may be -1 and is then worked out.
template <class T>
Var<T> reshape(const Var<T>& x, std::initializer_list<Index> sizes);
template <class T>
Var<T> reshape(const Var<T>& x, const Shape& shape);
// Axes put in the given order: result axis i is x's axis axes[i].
template <class T>
Var<T> permute(const Var<T>& x, std::initializer_list<Index> axes);
// Two axes exchanged.
template <class T>
Var<T> transpose(const Var<T>& x, Index axis1 = -2, Index axis2 = -1);
// Positions begin … end of an axis (end excluded). 0 ≤ begin ≤ end ≤ size.
template <class T>
Var<T> slice(const Var<T>& x, Index axis, Index begin, Index end);
// The tensors one after the other along an axis; their other sizes must agree. At least one tensor.
template <class T>
Var<T> concatenate(std::span<const Var<T>> tensors, Index axis);
template <class T>
Var<T> concatenate(const std::vector<Var<T>>& tensors, Index axis) {
  return concatenate(std::span<const Var<T>>(tensors), axis);
}
// Tensors of one shape side by side along a new axis put in at position `axis`.
template <class T>
Var<T> stack(std::span<const Var<T>> tensors, Index axis);
template <class T>
Var<T> stack(const std::vector<Var<T>>& tensors, Index axis) {
  return stack(std::span<const Var<T>>(tensors), axis);
}
// Each position of an axis `times` times in a row: [a, b] → [a, a, b, b] (torch.repeat_interleave).
template <class T>
Var<T> repeat(const Var<T>& x, Index axis, Index times);

}  // namespace weft
