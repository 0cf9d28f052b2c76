// HiddenKeys: puts zeros in place of keys that are masked for all queries.
// Included by definitions only.
#pragma once

#include "weft/autograd/tape.hpp"
#include "autograd/ops/internal/mask_view.hpp"

namespace weft {

// A masked NaN does not reach the result of attention, but it would reach the gradient of a
// projection's weight, as 0 · NaN.
class HiddenKeys {
 public:
  // `mask` must outlive the object. Costs nothing for lengths and a causal mask, and one pass over
  // the other parts of a mask.
  explicit HiddenKeys(const MaskView& mask);

  // The keys (or values) x [batch, num_keys, channels], with zeros in place of those that are
  // masked for all queries if any of these is not finite; otherwise x. Costs one pass over these.
  template <class T>
  Var<T> zeroed(const Var<T>& x) const;

 private:
  // Calls body(first, last) for the ranges of hidden keys among `begin` … `end` of all sequences.
  template <class Body>
  void for_each_hidden(Index begin, Index end, Index keys, const Body& body) const;

  const MaskView& mask_;
  Tensor<bool> visible_;  // [batch, num_keys]; none when only the largest limit counts
};

}  // namespace weft
