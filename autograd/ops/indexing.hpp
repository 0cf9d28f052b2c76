// Elements and positions of an axis picked by indices, with gradients.
// Axes may be negative and then count from the end. Indices are counted from 0.
#pragma once

#include <concepts>

#include "weft/autograd/export.hpp"
#include "weft/autograd/ops/no_grad.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

using Indices = Tensor<std::int32_t>;

// y[i, j, k] = x[i, indices[i, j, k], k] for axis 1, and so on (torch.gather): the result has the
// shape of `indices`, which has the rank of x and, on the other axes, sizes of at most x's. Throws
// ShapeError for other shapes, and ValueError, naming the position, for an index outside the axis.
template <class T>
WEFT_API Var<T> gather(const Var<T>& x, Index axis, const Indices& indices);
// The positions indices[0], indices[1], … of an axis, for indices [n], also repeated ones
// (torch.index_select). Throws ShapeError unless `indices` has one axis, and ValueError, naming the
// position, for an index outside the axis.
template <class T>
WEFT_API Var<T> index_select(const Var<T>& x, Index axis, const Indices& indices);
// One position of an axis, which is removed: row i of a matrix is select(x, 0, i) (torch.select). A
// negative index counts from the end. Throws ShapeError for an index outside the axis.
template <class T>
WEFT_API Var<T> select(const Var<T>& x, Index axis, Index index);

// The same for tensors, without gradients.
template <std::floating_point T>
Tensor<T> gather(const Tensor<T>& x, Index axis, const Indices& indices) {
  return no_grad([&](const auto& v) { return gather(v, axis, indices); }, x);
}
template <std::floating_point T>
Tensor<T> index_select(const Tensor<T>& x, Index axis, const Indices& indices) {
  return no_grad([&](const auto& v) { return index_select(v, axis, indices); }, x);
}
template <std::floating_point T>
Tensor<T> select(const Tensor<T>& x, Index axis, Index index) {
  return no_grad([&](const auto& v) { return select(v, axis, index); }, x);
}

}  // namespace weft
