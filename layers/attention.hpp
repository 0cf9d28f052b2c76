// DotProductAttention: each query's average of the values, weighted by how well the keys match.
#pragma once

#include "autograd/mask.hpp"
#include "autograd/tape.hpp"
#include "layers/dropout.hpp"
#include "layers/module.hpp"

namespace weft {

struct DotProductAttentionOptions {
  // The probability of dropping an attention weight.
  double dropout = 0.0;
  // The last axis is cut into this many heads, each with an attention of its own.
  Index num_heads = 1;
};

// softmax(Q Kᵀ / √d) V for each head (Vaswani et al., 2017, equation 1).
template <class T = float>
struct DotProductAttention : Module<T> {
  // Throws ValueError unless num_heads > 0 and 0 ≤ dropout ≤ 1.
  explicit DotProductAttention(const DotProductAttentionOptions& options);

  // queries [batch, num_queries, num_heads · d], keys [batch, num_keys, num_heads · d], values
  // [batch, num_keys, num_heads · d_v], result [batch, num_queries, num_heads · d_v]. `mask` may be
  // just ValidLens. `weights`, when given, receives the attention weights before dropout,
  // [batch, num_heads, num_queries, num_keys]. Throws ShapeError, and ValueError for valid_lens
  // that are negative or more than the keys.
  Var<T> operator()(const Var<T>& queries, const Var<T>& keys, const Var<T>& values,
                    const Mask& mask = {}, Tensor<T>* weights = nullptr) const;

  void members(Members<T>& members) override;

  Dropout<T> dropout;
  Index num_heads;
};

extern template struct DotProductAttention<float>;
extern template struct DotProductAttention<double>;

}  // namespace weft
