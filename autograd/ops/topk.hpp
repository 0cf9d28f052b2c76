// The positions of the largest and smallest elements: argmax, argmin and topk.
// Axes may be negative and then count from the end. Of equal elements the first one counts, or
// comes first. The maximum and the minimum of numbers and NaN are the first NaN; topk counts NaN as
// larger than every number. So does PyTorch.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/autograd/ops/indexing.hpp"

namespace weft {

// The position of the maximum along an axis of x, of any shape, which is removed or, with
// `keep_axis`, kept with size 1: `y = arg max x` (torch.argmax). Throws ShapeError for an axis
// without elements.
//   const Indices labels = argmax(logits, -1);  // logits [2, 10], labels [2]
template <class T>
WEFT_API Indices argmax(const Tensor<T>& x, Index axis, bool keep_axis = false);
// `y = arg min x`: the position of the minimum; as `argmax`, with its shapes and errors
// (torch.argmin).
//   const Indices nearest = argmin(distances, -1);
template <class T>
WEFT_API Indices argmin(const Tensor<T>& x, Index axis, bool keep_axis = false);
// `y = arg max x` over all elements: the number of the element in row-major order (torch.argmax).
// Throws ShapeError when there are none.
//   const Index token = argmax(logits);
template <class T>
WEFT_API Index argmax(const Tensor<T>& x);
// `y = arg min x` over all elements, as `argmax` (torch.argmin). Throws ShapeError when there are
// none.
//   const Index nearest = argmin(distances);
template <class T>
WEFT_API Index argmin(const Tensor<T>& x);

// `argmax` of the value of a Var, of any shape: positions have no gradient.
template <class T>
Indices argmax(const Var<T>& x, Index axis, bool keep_axis = false) {
  return argmax(x.value(), axis, keep_axis);
}
// `argmin` of the value of a Var, of any shape.
template <class T>
Indices argmin(const Var<T>& x, Index axis, bool keep_axis = false) {
  return argmin(x.value(), axis, keep_axis);
}
// `argmax` of the value of a Var, over all elements.
template <class T>
Index argmax(const Var<T>& x) {
  return argmax(x.value());
}
// `argmin` of the value of a Var, over all elements.
template <class T>
Index argmin(const Var<T>& x) {
  return argmin(x.value());
}

// Of `topk` and `topk_indices`.
struct TopKOptions {
  Index axis = -1;  // that the elements are searched along
  // The largest elements, largest first; otherwise the smallest, smallest first.
  bool largest = true;
};

// The positions of the k largest or smallest elements along an axis of x [..., n, ...], in order:
// [..., k, ...]; as the indices of torch.topk,
//   x[y_1] ≥ x[y_2] ≥ … ≥ x[y_k]
// Throws ShapeError unless 0 ≤ k ≤ n.
//   const Indices best = topk_indices(X, 2);  // X [2, 3], best [2, 2]
template <class T>
WEFT_API Indices topk_indices(const Tensor<T>& x, Index k, const TopKOptions& options = {});

// A Tensor or a Var, and the positions of its elements in what they were taken from.
template <class Values>
struct TopK {
  Values values;    // [..., k, ...]
  Indices indices;  // of the same shape
};

// The elements at the positions of `topk_indices` too, each [..., k, ...] (torch.topk):
//   y_i = x[indices_i]
// Those of a Var have a gradient. Throws as `topk_indices` does.
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
