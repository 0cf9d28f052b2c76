// Operations that move elements without changing them, with gradients.
// Axes may be negative and then count from the end.
#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

// The same elements with another shape, sharing x's memory; one size may be -1 and is then
// inferred. Throws ShapeError when the number of elements differs.
template <class T>
WEFT_API Var<T> reshape(const Var<T>& x, std::initializer_list<Index> sizes);
template <class T>
WEFT_API Var<T> reshape(const Var<T>& x, const Shape& shape);
// Positions begin … end of an axis (end excluded). Throws ShapeError unless
// 0 ≤ begin ≤ end ≤ size.
template <class T>
WEFT_API Var<T> slice(const Var<T>& x, Index axis, Index begin, Index end);
// The tensors concatenated along an axis. Throws ShapeError when there are none or their other
// sizes differ.
template <class T>
WEFT_API Var<T> concatenate(std::span<const Var<T>> tensors, Index axis);
template <class T>
Var<T> concatenate(const std::vector<Var<T>>& tensors, Index axis) {
  return concatenate(std::span<const Var<T>>(tensors), axis);
}
// Tensors of the same shape stacked along a new axis inserted at position `axis`. Throws ShapeError
// when there are none or their shapes differ.
template <class T>
WEFT_API Var<T> stack(std::span<const Var<T>> tensors, Index axis);
template <class T>
Var<T> stack(const std::vector<Var<T>>& tensors, Index axis) {
  return stack(std::span<const Var<T>>(tensors), axis);
}
// Slices of `size` positions along an axis, the last one smaller when the size of the axis is not a
// multiple (torch.split). Throws ValueError unless size > 0.
template <class T>
WEFT_API std::vector<Var<T>> split(const Var<T>& x, Index axis, Index size);
// Slices of these sizes. Throws ShapeError unless they are ≥ 0 and add up to the size of the axis.
template <class T>
WEFT_API std::vector<Var<T>> split(const Var<T>& x, Index axis, std::span<const Index> sizes);
template <class T>
std::vector<Var<T>> split(const Var<T>& x, Index axis, std::initializer_list<Index> sizes) {
  return split(x, axis, std::span(sizes.begin(), sizes.size()));
}
// Without an axis of size 1. Throws ShapeError for an axis of another size.
template <class T>
WEFT_API Var<T> squeeze(const Var<T>& x, Index axis);
// With a new axis of size 1 at position `axis`.
template <class T>
WEFT_API Var<T> unsqueeze(const Var<T>& x, Index axis);
// `before` and `after` positions of an axis added, whose elements are `value`. Throws ShapeError
// for negative numbers of them, and for a result larger than a shape can be.
template <class T>
WEFT_API Var<T> pad(const Var<T>& x, Index axis, Index before, Index after, double value = 0.0);
// Each position of an axis repeated `times` times: [a, b] → [a, a, b, b] (torch.repeat_interleave).
// Throws ValueError unless times ≥ 0, and ShapeError for a result larger than a shape can be.
template <class T>
WEFT_API Var<T> repeat(const Var<T>& x, Index axis, Index times);

}  // namespace weft
