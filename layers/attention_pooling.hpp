// AttentionPooling: averages the values for each query, weighted by how well their keys match.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/autograd/ops/mask.hpp"
#include "weft/layers/dropout.hpp"
#include "weft/layers/scoring.hpp"

namespace weft {

struct AttentionPoolingOptions {
  Scoring scoring = Scoring::scaled_dot_product;  // the scoring function
  // The probability of dropping an attention weight.
  double dropout = 0.0;
  // The last axis is split into this many heads, which attend independently.
  Index num_heads = 1;
  // The sizes of additive scoring, which all heads share; ignored with other scoring functions.
  AdditiveScoringOptions additive = {};
};

// Attention with any scoring function (d2l.ai, section 11.3). For each query q of each head:
//   y = Σ_k softmax_k(score(q, key_k)) value_k
// Dot products, scaled (Vaswani et al., 2017, equation 1) or not, are computed by one fused
// operation that never stores all weights at once. With other scoring functions, the scores of all
// queries and keys are computed first.
//   AttentionPooling attention({.scoring = Scoring::gaussian, .dropout = 0.1}, random);
//   Var y = attention(q, k, v, ValidLens{3, 2});  // q [2, 4, 8], k [2, 5, 8], v [2, 5, 8]
template <class T = float>
struct WEFT_API AttentionPooling : Module<T> {
  // Throws ValueError unless num_heads > 0, 0 ≤ dropout ≤ 1 and, with additive scoring, its sizes
  // are > 0.
  AttentionPooling(const AttentionPoolingOptions& options, Random& random);

  // Takes queries [batch, num_queries, num_heads · d], keys [batch, num_keys, num_heads · d] and
  // values [batch, num_keys, num_heads · d_v]; returns [batch, num_queries, num_heads · d_v]. With
  // additive scoring, the sizes of queries and keys may differ. `mask` may be a ValidLens. Masked
  // keys and values, even if NaN, affect neither the result nor any gradient. `position_bias`
  // [num_heads, num_queries + num_keys - 1], the result of a RelativePositionBias, is added to the
  // scores. The attention weights are an intermediate result (see Tape::take_attention_weights).
  // Throws ShapeError, and ValueError unless 0 ≤ valid_lens ≤ num_keys.
  Var<T> operator()(const Var<T>& queries, const Var<T>& keys, const Var<T>& values,
                    const Mask& mask = {}, const std::optional<Var<T>>& position_bias = {}) const;

  void members(Members<T>& members) const override;

  Scoring scoring() const { return scoring_; }  // the scoring function
  // Whether the scores are dot products, scaled or not.
  bool has_dot_products() const {
    return scoring_ == Scoring::scaled_dot_product || scoring_ == Scoring::dot_product;
  }
  // Returns the layer that computes additive scores; empty for other scoring functions.
  const std::optional<AdditiveScoring<T>>& additive() const { return additive_; }

  Dropout<T> dropout;  // applied to the attention weights
  Index num_heads;     // the number of heads that the last axis is split into

 private:
  // Set once, together.
  Scoring scoring_;
  std::optional<AdditiveScoring<T>> additive_;
};

extern template struct AttentionPooling<float>;
extern template struct AttentionPooling<double>;

}  // namespace weft
