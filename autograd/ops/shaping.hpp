// Operations that move elements without changing them, with gradients. Negative axes count from the
// end.
#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

// Returns the same elements with another shape, sharing x's memory (torch.reshape): `y_i = x_i`,
// numbered in row-major order. One size may be -1 and is then inferred. Throws ShapeError if the
// number of elements differs.
//   Var y = reshape(x, {2, -1});  // x [2, 3, 4], y [2, 12]
template <class T>
WEFT_API Var<T> reshape(const Var<T>& x, std::initializer_list<Index> sizes);
template <class T>
WEFT_API Var<T> reshape(const Var<T>& x, const Shape& shape);
// Returns the positions [begin, end) of an axis of x [..., size, ...]: `y_i = x_{begin + i}`
// (torch.narrow). Throws ShapeError unless 0 ≤ begin ≤ end ≤ size.
//   Var y = slice(x, 1, 0, 2);  // x [2, 3, 4], y [2, 2, 4]
template <class T>
WEFT_API Var<T> slice(const Var<T>& x, Index axis, Index begin, Index end);
// Concatenates tensors [..., n_i, ...] along an axis: `y = [x_1, x_2, …]`, result [..., Σ n_i, ...]
// (torch.cat). Throws ShapeError if there are no tensors, if their ranks or their sizes on other
// axes differ, or if they do not have the axis. Throws Error for tensors on different tapes.
//   Var y = concatenate(std::vector{a, b}, 1);  // a [2, 3], b [2, 5], y [2, 8]
template <class T>
WEFT_API Var<T> concatenate(std::span<const Var<T>> tensors, Index axis);
template <class T>
Var<T> concatenate(const std::vector<Var<T>>& tensors, Index axis) {
  return concatenate(std::span<const Var<T>>(tensors), axis);
}
// Stacks tensors x_i of one shape along a new axis at position `axis` (torch.stack); for axis 0,
// `y[i, …] = x_i[…]`. Throws ShapeError if there are no tensors or their shapes differ.
//   Var y = stack(std::vector{a, b}, 0);  // a [2, 3], b [2, 3], y [2, 2, 3]
template <class T>
WEFT_API Var<T> stack(std::span<const Var<T>> tensors, Index axis);
template <class T>
Var<T> stack(const std::vector<Var<T>>& tensors, Index axis) {
  return stack(std::span<const Var<T>>(tensors), axis);
}
// Splits an axis of x, of any shape, into slices of `size` positions (torch.split):
// `y_j[i] = x[j size + i]` for 0 ≤ i < size. The last slice is smaller if the size of the axis is
// not a multiple of `size`. Throws ValueError unless size > 0.
//   const std::vector<Var<>> parts = split(x, 1, 2);  // x [2, 3, 4]: [2, 2, 4] and [2, 1, 4]
template <class T>
WEFT_API std::vector<Var<T>> split(const Var<T>& x, Index axis, Index size);
// Splits an axis of x, of any shape, into slices of the given sizes (torch.split). Throws
// ShapeError unless they are ≥ 0 and add up to the size of the axis.
//   const std::vector<Var<>> parts = split(x, -1, {1, 3});  // x [2, 3, 4]: [2, 3, 1], [2, 3, 3]
template <class T>
WEFT_API std::vector<Var<T>> split(const Var<T>& x, Index axis, std::span<const Index> sizes);
template <class T>
std::vector<Var<T>> split(const Var<T>& x, Index axis, std::initializer_list<Index> sizes) {
  return split(x, axis, std::span(sizes.begin(), sizes.size()));
}
// Removes an axis of size 1 from x [..., 1, ...] (torch.squeeze); for axis 1,
// `y[i, j] = x[i, 0, j]`. Throws ShapeError for an axis of another size.
//   Var y = squeeze(x, 1);  // x [2, 1, 4], y [2, 4]
template <class T>
WEFT_API Var<T> squeeze(const Var<T>& x, Index axis);
// Inserts an axis of size 1 at position `axis` of x, of any shape (torch.unsqueeze); for axis 1,
// `y[i, 0, j] = x[i, j]`. Throws ShapeError if there is no such position.
//   Var y = unsqueeze(x, 0);  // x [2, 3], y [1, 2, 3]
template <class T>
WEFT_API Var<T> unsqueeze(const Var<T>& x, Index axis);
// Pads an axis of x [..., n, ...] with `before` and `after` positions whose elements are `value`:
// result [..., before + n + after, ...], `y_{before + i} = x_i` (torch's pad). Throws ShapeError if
// before or after is negative, and for a result larger than a shape can be.
//   Var y = pad(x, 1, 1, 0);  // x [2, 3], y [2, 4]: zeros in front
template <class T>
WEFT_API Var<T> pad(const Var<T>& x, Index axis, Index before, Index after, double value = 0.0);
// Repeats each position of an axis of x [..., n, ...]: result [..., n · times, ...],
// `y_i = x_{⌊i / times⌋}` (torch.repeat_interleave). Throws ValueError unless times ≥ 0, and
// ShapeError for a result larger than a shape can be.
//   Var y = repeat(tape.constant(Tensor<float>({2}, {3, 4})), 0, 2);  // [3, 3, 4, 4]
template <class T>
WEFT_API Var<T> repeat(const Var<T>& x, Index axis, Index times);

}  // namespace weft
