// The positions of the largest and smallest elements: argmax, argmin and topk.
// Axes may be negative and then count from the end. Of equal elements the first one counts, or
// comes first. The maximum and the minimum of numbers and NaN are the first NaN; topk counts NaN as
// larger than every number. So does PyTorch.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/autograd/ops/indexing.hpp"

namespace weft {

// The position of the maximum or minimum along an axis, which is removed or, with `keep_axis`, kept
// with size 1. Throw ShapeError for an axis without elements.
template <class T>
WEFT_API Indices argmax(const Tensor<T>& x, Index axis, bool keep_axis = false);
template <class T>
WEFT_API Indices argmin(const Tensor<T>& x, Index axis, bool keep_axis = false);
// Over all elements: the number of the element in row-major order. Throw ShapeError when there are
// none.
template <class T>
WEFT_API Index argmax(const Tensor<T>& x);
template <class T>
WEFT_API Index argmin(const Tensor<T>& x);

template <class T>
Indices argmax(const Var<T>& x, Index axis, bool keep_axis = false) {
  return argmax(x.value(), axis, keep_axis);
}
template <class T>
Indices argmin(const Var<T>& x, Index axis, bool keep_axis = false) {
  return argmin(x.value(), axis, keep_axis);
}
template <class T>
Index argmax(const Var<T>& x) {
  return argmax(x.value());
}
template <class T>
Index argmin(const Var<T>& x) {
  return argmin(x.value());
}

struct TopKOptions {
  Index axis = -1;
  // The largest elements, largest first; otherwise the smallest, smallest first.
  bool largest = true;
};

// The positions of the k largest or smallest elements along an axis, in order: [..., k, ...].
// Throws ShapeError unless 0 ≤ k ≤ the size of the axis.
template <class T>
WEFT_API Indices topk_indices(const Tensor<T>& x, Index k, const TopKOptions& options = {});

// A Tensor or a Var, and the positions of its elements in what they were taken from.
template <class Values>
struct TopK {
  Values values;
  Indices indices;
};

// The elements at these positions too, each [..., k, ...] (torch.topk). Those of a Var have a
// gradient.
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
