// Keeps a NaN or infinity of masked keys and values out of results and gradients. A masked key has
// weight 0, but 0 · NaN is NaN. Three things can go wrong, and are mended here and nowhere else:
//
// - A key that only some queries attend to. finite_keys puts zeros in the place of keys and values
//   that are not finite, and NaN into their scores before these are masked: the queries that attend
//   to them get NaN, and the others get nothing of them. For all ways of computing attention.
// - A key that no query attends to. It does not reach the result, but it would reach the gradient
//   of the weight by which it was projected. HiddenKeys puts zeros in its place before that.
// - A query that attends to no key, or that is such a key itself, as padding is in self-attention.
//   Its gradient is 0, but it would reach the gradients of keys, values and weights.
//   visible_queries puts zeros in its place.
//
// Included by definitions only.
#pragma once

#include "weft/autograd/tape.hpp"
#include "autograd/ops/internal/mask_view.hpp"

namespace weft {

template <class T>
struct FiniteKeys {
  // With zeros in the rows where key or value is not finite.
  Var<T> keys, values;
  // NaN for these rows, 0 for the others, to be added to the scores before they are masked:
  // [batch, num_keys], or no elements when all are finite.
  Tensor<T> marks = {};

  // scores [batch, heads, num_queries, num_keys] with the marks, as infinities.
  Var<T> mark(const Var<T>& scores) const;
};

// Of keys [batch, num_keys, d] and values [batch, num_keys, d_v]. Costs one pass over them, and no
// operation when all are finite.
template <class T>
FiniteKeys<T> finite_keys(const Var<T>& keys, const Var<T>& values);

class HiddenKeys {
 public:
  // `mask` must outlive the object.
  explicit HiddenKeys(const MaskView& mask) : mask_(mask) {}

  // The keys (or values) x [batch, num_keys, channels], with zeros in place of those that are
  // masked for all queries if any of these is not finite; otherwise x. Costs one pass over these
  // for lengths and a causal mask, and one over x for other masks.
  template <class T>
  Var<T> zeroed(const Var<T>& x) const;

 private:
  const MaskView& mask_;
};

// The queries [batch, num_queries, channels], with zeros in place of those that attend to no key if
// any of these is not finite. When they are the keys, too, also in place of those that no query
// attends to. Costs no more than a pass over them.
template <class T>
Var<T> visible_queries(const MaskView& mask, const Var<T>& queries, const Var<T>& keys);

}  // namespace weft
