// FiniteKeys: a NaN or an infinity in a key or value reaches only the queries that see it.
// Included by definitions only.
#pragma once

#include "weft/autograd/tape.hpp"

namespace weft {

// For attention that is worked out step by step. A hidden key has weight 0, and 0 times a NaN would
// reach the result. So zeros stand in for keys and values that are not finite, and NaN is added to
// their scores: the queries that see them get NaN, and the others nothing. Costs a look at each key
// and value, and no operation when all are finite.
template <class T>
class FiniteKeys {
 public:
  // keys [batch, num_keys, d], values [batch, num_keys, d_v].
  FiniteKeys(const Var<T>& keys, const Var<T>& values);

  // The keys or the values, with zeros where not all is finite.
  Var<T> clean(const Var<T>& x) const;
  // scores [batch, heads, num_queries, num_keys], NaN where not all is finite.
  Var<T> mark(const Var<T>& scores) const;

 private:
  Tensor<bool> finite_;  // [batch, num_keys]
  bool all_finite_;
};

extern template class FiniteKeys<float>;
extern template class FiniteKeys<double>;

}  // namespace weft
