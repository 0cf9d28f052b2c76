// Selection of elements by indices along an axis, with gradients. Negative axes count from the end.
// Indices count from 0.
#pragma once

#include <concepts>

#include "weft/autograd/export.hpp"
#include "weft/autograd/ops/no_grad.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

// Positions along an axis, counted from 0, in a tensor of any shape.
using Indices = Tensor<std::int32_t>;

// Picks elements by indices along an axis (torch.gather). For axis 1:
//   y[i, j, k] = x[i, indices[i, j, k], k]
// The result has the shape of `indices`, which has as many axes as x. On all axes except `axis`, it
// is at most as large as x. Throws ShapeError for other shapes. Throws ValueError for an index
// outside the axis, naming its position.
//   Var y = gather(x, 1, Indices({2, 1}, {0, 2}));  // x [2, 3], y [2, 1]: x[0, 0], x[1, 2]
template <class T>
WEFT_API Var<T> gather(const Var<T>& x, Index axis, const Indices& indices);
// Picks the positions indices[0], indices[1], … along an axis of x, of any shape except a scalar
// (torch.index_select). `indices` [n] may repeat positions. For axis 0:
//   y[i, …] = x[indices[i], …]
// Throws ShapeError unless `indices` has one axis. Throws ValueError for an index outside the axis,
// naming its position.
//   Var y = index_select(x, 0, Indices({3}, {1, 0, 1}));  // x [2, 3], y [3, 3]
template <class T>
WEFT_API Var<T> index_select(const Var<T>& x, Index axis, const Indices& indices);
// Picks one position along an axis of x [..., n, ...] and removes the axis: result [..., ...]
// (torch.select). For axis 0:
//   y[…] = x[index, …]
// A negative index counts from the end. Throws ShapeError for an index outside the axis.
//   Var last = select(x, 1, -1);  // x [2, 3], last [2]
template <class T>
WEFT_API Var<T> select(const Var<T>& x, Index axis, Index index);

// Computes `gather` of a plain tensor, without gradients. The shapes and errors are the same as for
// a variable.
template <std::floating_point T>
Tensor<T> gather(const Tensor<T>& x, Index axis, const Indices& indices) {
  return no_grad([&](const auto& v) { return gather(v, axis, indices); }, x);
}
// Computes `index_select` of a plain tensor, without gradients. The shapes and errors are the same
// as for a variable.
template <std::floating_point T>
Tensor<T> index_select(const Tensor<T>& x, Index axis, const Indices& indices) {
  return no_grad([&](const auto& v) { return index_select(v, axis, indices); }, x);
}
// Computes `select` of a plain tensor, without gradients. The shapes and errors are the same as for
// a variable.
template <std::floating_point T>
Tensor<T> select(const Tensor<T>& x, Index axis, Index index) {
  return no_grad([&](const auto& v) { return select(v, axis, index); }, x);
}

}  // namespace weft
