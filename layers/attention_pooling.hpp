// AttentionPooling: each query's average of the values, weighted by how well the keys match.
#pragma once

#include "weft/autograd/ops/mask.hpp"
#include "weft/layers/dropout.hpp"
#include "weft/layers/scoring.hpp"

namespace weft {

struct AttentionPoolingOptions {
  Scoring scoring = Scoring::scaled_dot_product;
  // The probability of dropping an attention weight.
  double dropout = 0.0;
  // The last axis is cut into this many heads, each with an attention of its own.
  Index num_heads = 1;
  // The sizes of additive scoring, which all heads share; for no other is it looked at.
  AdditiveScoringOptions additive = {};
};

// Σ_k softmax_k(score(q, k)) v_k for each head: attention in general (d2l.ai, section 11.3). Scaled
// dot products (Vaswani et al., 2017, equation 1) are one operation that never keeps all weights;
// the other scores are worked out for all queries and keys at once.
template <class T = float>
struct AttentionPooling : Module<T> {
  // Throws ValueError unless num_heads > 0, 0 ≤ dropout ≤ 1 and, where additive, its sizes are > 0.
  AttentionPooling(const AttentionPoolingOptions& options, Random& random);

  // queries [batch, num_queries, num_heads · d], keys [batch, num_keys, num_heads · d], values
  // [batch, num_keys, num_heads · d_v], result [batch, num_queries, num_heads · d_v]. Where scoring
  // is additive, queries and keys have sizes of their own. `mask` may be just ValidLens. What
  // masked keys and values hold (NaN too) reaches neither the result nor a gradient. `weights`,
  // when given, receives the attention weights before dropout,
  // [batch, num_heads, num_queries, num_keys]. Throws ShapeError, and ValueError for valid_lens
  // that are negative or more than the keys.
  Var<T> operator()(const Var<T>& queries, const Var<T>& keys, const Var<T>& values,
                    const Mask& mask = {}, Tensor<T>* weights = nullptr) const;

  void members(Members<T>& members) override;

  Scoring scoring;
  Dropout<T> dropout;
  Index num_heads;
  std::optional<AdditiveScoring<T>> additive;
};

extern template struct AttentionPooling<float>;
extern template struct AttentionPooling<double>;

}  // namespace weft
