// Keeps NaN and infinity in masked keys and values out of results and gradients. A masked key has
// weight 0, but 0 · NaN is NaN. There are three cases, and all are handled here:
//
// - A key that only some queries attend to. finite_keys replaces keys and values that are not
//   finite by zeros, and adds NaN to their scores before masking: only queries that attend to them
//   get NaN. All ways of computing attention use this.
// - A key that no query attends to. It does not reach the result, but it would reach the gradient
//   of the weight that projected it. HiddenKeys replaces it by zeros before that.
// - A query that attends to no key, or whose position no query attends to, such as padding in
//   self-attention. Its gradient is 0, but its value would reach the gradients of keys, values and
//   weights. visible_queries replaces it by zeros.
//
// Included by definitions only.
#pragma once

#include "weft/autograd/tape.hpp"
#include "autograd/ops/internal/mask_view.hpp"

namespace weft {

template <class T>
struct FiniteKeys {
  // Keys and values, with zeros in the rows where a key or value is not finite.
  Var<T> keys, values;
  // NaN for the rows that were replaced, and 0 for all other rows, to be added to the scores before
  // masking: [batch, num_keys]. Empty if all rows are finite.
  Tensor<T> marks = {};

  // Returns scores [batch, heads, num_queries, num_keys] with the marks added, as infinities.
  Var<T> mark(const Var<T>& scores) const;
};

// Returns keys [batch, num_keys, d] and values [batch, num_keys, d_v] with zeros in the rows that
// are not finite. Costs one pass over them, and no operation if all are finite.
template <class T>
FiniteKeys<T> finite_keys(const Var<T>& keys, const Var<T>& values);

class HiddenKeys {
 public:
  // `mask` must outlive the object.
  explicit HiddenKeys(const MaskView& mask) : mask_(mask) {}

  // Returns keys or values x [batch, num_keys, channels]. If a row that is masked for all queries
  // is not finite, all such rows are replaced by zeros. Costs one pass over the masked rows for
  // lengths and a causal mask, and one pass over x for other masks.
  template <class T>
  Var<T> zeroed(const Var<T>& x) const;

 private:
  const MaskView& mask_;
};

// Returns the queries [batch, num_queries, channels]. If a query that attends to no key is not
// finite, all such queries are replaced by zeros. If the queries are also the keys, the same holds
// for positions that no query attends to. Costs at most a pass over them.
template <class T>
Var<T> visible_queries(const MaskView& mask, const Var<T>& queries, const Var<T>& keys);

}  // namespace weft
