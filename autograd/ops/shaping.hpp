// Operations that move elements without changing them, with gradients.
// Axes may be negative and then count from the end.
#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

// The same elements with another shape, sharing x's memory (torch.reshape): `y_i = x_i`, numbered
// in row-major order. One size may be -1 and is then inferred. Throws ShapeError when the number of
// elements differs.
//   Var y = reshape(x, {2, -1});  // x [2, 3, 4], y [2, 12]
template <class T>
WEFT_API Var<T> reshape(const Var<T>& x, std::initializer_list<Index> sizes);
template <class T>
WEFT_API Var<T> reshape(const Var<T>& x, const Shape& shape);
// Positions begin … end of an axis of x [..., size, ...], end excluded: `y_i = x_{begin + i}`
// (torch.narrow). Throws ShapeError unless 0 ≤ begin ≤ end ≤ size.
//   Var y = slice(x, 1, 0, 2);  // x [2, 3, 4], y [2, 2, 4]
template <class T>
WEFT_API Var<T> slice(const Var<T>& x, Index axis, Index begin, Index end);
// `y = [x_1, x_2, …]`: tensors [..., n_i, ...] along an axis: [..., Σ n_i, ...] (torch.cat).
// Throws ShapeError when there are none, when their ranks or their other sizes differ and for an
// axis that they do not have, and Error for tensors of different tapes.
//   Var y = concatenate(std::vector{a, b}, 1);  // a [2, 3], b [2, 5], y [2, 8]
template <class T>
WEFT_API Var<T> concatenate(std::span<const Var<T>> tensors, Index axis);
template <class T>
Var<T> concatenate(const std::vector<Var<T>>& tensors, Index axis) {
  return concatenate(std::span<const Var<T>>(tensors), axis);
}
// Tensors x_i of one shape along a new axis at position `axis` (torch.stack), for 0 `y[i, …] =
// x_i[…]`. Throws ShapeError when there are none or their shapes differ.
//   Var y = stack(std::vector{a, b}, 0);  // a [2, 3], b [2, 3], y [2, 2, 3]
template <class T>
WEFT_API Var<T> stack(std::span<const Var<T>> tensors, Index axis);
template <class T>
Var<T> stack(const std::vector<Var<T>>& tensors, Index axis) {
  return stack(std::span<const Var<T>>(tensors), axis);
}
// Slices of `size` positions along an axis of x, of any shape, `y_j = x[j size … (j + 1) size]`,
// the last one smaller when the size of the axis is not a multiple (torch.split). Throws ValueError
// unless size > 0.
//   const std::vector<Var<>> parts = split(x, 1, 2);  // x [2, 3, 4]: [2, 2, 4] and [2, 1, 4]
template <class T>
WEFT_API std::vector<Var<T>> split(const Var<T>& x, Index axis, Index size);
// Slices of these sizes, of x of any shape (torch.split). Throws ShapeError unless they are ≥ 0 and
// add up to the size of the axis.
//   const std::vector<Var<>> parts = split(x, -1, {1, 3});  // x [2, 3, 4]: [2, 3, 1], [2, 3, 3]
template <class T>
WEFT_API std::vector<Var<T>> split(const Var<T>& x, Index axis, std::span<const Index> sizes);
template <class T>
std::vector<Var<T>> split(const Var<T>& x, Index axis, std::initializer_list<Index> sizes) {
  return split(x, axis, std::span(sizes.begin(), sizes.size()));
}
// x [..., 1, ...] without that axis (torch.squeeze), for axis 1 `y[i, j] = x[i, 0, j]`. Throws
// ShapeError for an axis of another size.
//   Var y = squeeze(x, 1);  // x [2, 1, 4], y [2, 4]
template <class T>
WEFT_API Var<T> squeeze(const Var<T>& x, Index axis);
// x, of any shape, with a new axis of size 1 at position `axis` (torch.unsqueeze), for 1
// `y[i, 0, j] = x[i, j]`. Throws
// ShapeError when there is no such position.
//   Var y = unsqueeze(x, 0);  // x [2, 3], y [1, 2, 3]
template <class T>
WEFT_API Var<T> unsqueeze(const Var<T>& x, Index axis);
// `before` and `after` positions added to an axis of x [..., n, ...], whose elements are `value`:
// [..., before + n + after, ...], `y_{before + i} = x_i` (torch's pad). Throws ShapeError for
// negative numbers of them, and for a result larger than a shape can be.
//   Var y = pad(x, 1, 1, 0);  // x [2, 3], y [2, 4]: zeros in front
template <class T>
WEFT_API Var<T> pad(const Var<T>& x, Index axis, Index before, Index after, double value = 0.0);
// Each position of an axis of x [..., n, ...] repeated: [..., n · times, ...],
// `y_i = x_{⌊i / times⌋}` (torch.repeat_interleave).
//   Var y = repeat(tape.constant(Tensor<float>({2}, {3, 4})), 0, 2);  // [3, 3, 4, 4]
// Throws ValueError unless times ≥ 0, and ShapeError for a result larger than a shape can be.
template <class T>
WEFT_API Var<T> repeat(const Var<T>& x, Index axis, Index times);

}  // namespace weft
