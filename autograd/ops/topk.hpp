// Positions of the largest and smallest elements: argmax, argmin and topk. Negative axes count from
// the end. Among equal elements, argmax and argmin return the first, and topk keeps their order. As
// in PyTorch, argmax and argmin return the first NaN if there is one, and topk ranks NaN above
// every number.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/autograd/ops/indexing.hpp"

namespace weft {

// Returns the index of the maximum along an axis of x, of any shape: `y = arg max x`
// (torch.argmax). The axis is removed or, with `keep_axis`, kept with size 1. Throws ShapeError for
// an axis without elements.
//   const Indices labels = argmax(logits, -1);  // logits [2, 10], labels [2]
template <class T>
WEFT_API Indices argmax(const Tensor<T>& x, Index axis, bool keep_axis = false);
// Returns the index of the minimum along an axis of x, of any shape: `y = arg min x`
// (torch.argmin). The axis is removed or, with `keep_axis`, kept with size 1. Throws ShapeError for
// an axis without elements.
//   const Indices nearest = argmin(distances, -1);
template <class T>
WEFT_API Indices argmin(const Tensor<T>& x, Index axis, bool keep_axis = false);
// Returns the index of the maximum over all elements, in row-major order: `y = arg max x`
// (torch.argmax). Throws ShapeError if there are no elements.
//   const Index token = argmax(logits);
template <class T>
WEFT_API Index argmax(const Tensor<T>& x);
// Returns the index of the minimum over all elements, in row-major order: `y = arg min x`
// (torch.argmin). Throws ShapeError if there are no elements.
//   const Index nearest = argmin(distances);
template <class T>
WEFT_API Index argmin(const Tensor<T>& x);

// Returns `argmax` of a Var's value, of any shape; the result has no gradient.
template <class T>
Indices argmax(const Var<T>& x, Index axis, bool keep_axis = false) {
  return argmax(x.value(), axis, keep_axis);
}
// Returns `argmin` of a Var's value, of any shape; the result has no gradient.
template <class T>
Indices argmin(const Var<T>& x, Index axis, bool keep_axis = false) {
  return argmin(x.value(), axis, keep_axis);
}
// Returns `argmax` over all elements of a Var's value.
template <class T>
Index argmax(const Var<T>& x) {
  return argmax(x.value());
}
// Returns `argmin` over all elements of a Var's value.
template <class T>
Index argmin(const Var<T>& x) {
  return argmin(x.value());
}

// Options of `topk` and `topk_indices`.
struct TopKOptions {
  Index axis = -1;  // the axis along which elements are compared
  // If true, the largest elements, largest first; otherwise the smallest, smallest first.
  bool largest = true;
};

// Returns the indices of the k largest or smallest elements along an axis of x [..., n, ...], in
// order: [..., k, ...] (the indices of torch.topk). For the largest elements:
//   x[y_1] ≥ x[y_2] ≥ … ≥ x[y_k]
// Throws ShapeError unless 0 ≤ k ≤ n.
//   const Indices best = topk_indices(X, 2);  // X [2, 3], best [2, 2]
template <class T>
WEFT_API Indices topk_indices(const Tensor<T>& x, Index k, const TopKOptions& options = {});

// The result of `topk`: elements, in a Tensor or a Var, and their positions along the axis.
template <class Values>
struct TopK {
  Values values;    // [..., k, ...]
  Indices indices;  // positions of the values, of the same shape
};

// Returns the k largest or smallest elements along an axis and their indices, each [..., k, ...]
// (torch.topk):
//   y_i = x[indices_i]
// For a Var, the elements have a gradient. Throws ShapeError unless 0 ≤ k ≤ n, where n is the size
// of the axis.
//   const auto [values, indices] = topk(x, 2);  // x [2, 3], values [2, 2]
template <class T>
TopK<Var<T>> topk(const Var<T>& x, Index k, const TopKOptions& options = {}) {
  const Indices indices = topk_indices(x.value(), k, options);
  return {gather(x, options.axis, indices), indices};
}
template <class T>
TopK<Tensor<T>> topk(const Tensor<T>& x, Index k, const TopKOptions& options = {}) {
  const Indices indices = topk_indices(x, k, options);
  return {gather(x, options.axis, indices), indices};
}

}  // namespace weft
