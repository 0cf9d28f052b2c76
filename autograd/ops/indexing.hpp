// Elements and positions of an axis picked by indices, with gradients.
// Axes may be negative and then count from the end. Indices are counted from 0.
#pragma once

#include <concepts>

#include "weft/autograd/export.hpp"
#include "weft/autograd/ops/no_grad.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

// Positions along an axis, from 0, of any shape.
using Indices = Tensor<std::int32_t>;

// Elements at indices along an axis (torch.gather), for axis 1
//   y[i, j, k] = x[i, indices[i, j, k], k]
// The result has the shape of `indices`, which has the rank of x and, on the other axes, sizes of
// at most x's. Throws ShapeError for other shapes, and ValueError, naming the position, for an
// index outside the axis.
//   Var y = gather(x, 1, Indices({2, 1}, {0, 2}));  // x [2, 3], y [2, 1]: x[0, 0], x[1, 2]
template <class T>
WEFT_API Var<T> gather(const Var<T>& x, Index axis, const Indices& indices);
// The positions indices[0], indices[1], … of an axis of x, of any shape with an axis, for indices
// [n], also repeated ones (torch.index_select); for axis 0
//   y[i, …] = x[indices[i], …]
// Throws ShapeError unless `indices` has one axis, and ValueError, naming the
// position, for an index outside the axis.
//   Var y = index_select(x, 0, Indices({3}, {1, 0, 1}));  // x [2, 3], y [3, 3]
template <class T>
WEFT_API Var<T> index_select(const Var<T>& x, Index axis, const Indices& indices);
// One position of an axis of x [..., n, ...], which is removed: result [..., ...] (torch.select);
// for axis 0
//   y[…] = x[index, …]
// A negative index counts from the end. Throws ShapeError for an index outside the axis.
//   Var last = select(x, 1, -1);  // x [2, 3], last [2]
template <class T>
WEFT_API Var<T> select(const Var<T>& x, Index axis, Index index);

// `gather` for tensors, without gradients: the same shapes and errors.
template <std::floating_point T>
Tensor<T> gather(const Tensor<T>& x, Index axis, const Indices& indices) {
  return no_grad([&](const auto& v) { return gather(v, axis, indices); }, x);
}
// `index_select` for tensors, without gradients: the same shapes and errors.
template <std::floating_point T>
Tensor<T> index_select(const Tensor<T>& x, Index axis, const Indices& indices) {
  return no_grad([&](const auto& v) { return index_select(v, axis, indices); }, x);
}
// `select` for tensors, without gradients: the same shapes and errors.
template <std::floating_point T>
Tensor<T> select(const Tensor<T>& x, Index axis, Index index) {
  return no_grad([&](const auto& v) { return select(v, axis, index); }, x);
}

}  // namespace weft
