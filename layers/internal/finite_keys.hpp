// FiniteKeys: limits the effect of a NaN or infinite key or value to the queries that attend to it.
// Included by definitions only.
#pragma once

#include "weft/autograd/tape.hpp"

namespace weft {

// For attention composed of several operations. A masked key has weight 0, and 0 · NaN would reach
// the result. So keys and values that are not finite are replaced by zeros, and NaN is added to
// their scores: only the queries that attend to them get NaN. Costs one pass over keys and values,
// and no operation when all are finite.
template <class T>
class FiniteKeys {
 public:
  // keys [batch, num_keys, d], values [batch, num_keys, d_v].
  FiniteKeys(const Var<T>& keys, const Var<T>& values);

  // x, the keys or the values, with zeros in the rows where key or value is not finite.
  Var<T> clean(const Var<T>& x) const;
  // scores [batch, heads, num_queries, num_keys], NaN for the keys of these rows.
  Var<T> mark(const Var<T>& scores) const;

 private:
  Tensor<bool> finite_;  // [batch, num_keys]
  bool all_finite_;
};

extern template class FiniteKeys<float>;
extern template class FiniteKeys<double>;

}  // namespace weft
