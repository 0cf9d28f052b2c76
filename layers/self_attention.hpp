// SelfAttention: multi-head self-attention.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/layers/multi_head_attention.hpp"

namespace weft {

struct SelfAttentionOptions {
  // The size of the input and output vectors; each head has size d_model / num_heads.
  Index d_model = 0;
  Index num_heads = 1;                            // divides d_model
  Scoring scoring = Scoring::scaled_dot_product;  // see MultiHeadAttentionOptions
  // The probability of dropping an attention weight.
  double dropout = 0.0;
  // Whether the four projections have a bias, as in torch.nn.MultiheadAttention.
  bool bias = true;
  // When given (RotaryOptions{} for the defaults), queries and keys get rotary position embeddings.
  std::optional<RotaryOptions> rotary = {};
};

// MultiHeadAttention whose queries, keys and values all have size d_model, and are one input unless
// three are given (d2l.ai, section 11.6): `y = attention(x, x, x)`. Its parameters have the same
// names as those of MultiHeadAttention.
//   SelfAttention attention({.d_model = 8, .num_heads = 2}, random);
//   Var y = attention(x, Mask{.causal = true});  // x [2, 5, 8], y [2, 5, 8]
template <class T = float>
struct WEFT_API SelfAttention : MultiHeadAttention<T> {
  // Throws ValueError unless num_heads divides d_model > 0 and 0 ≤ dropout ≤ 1.
  SelfAttention(const SelfAttentionOptions& options, Random& random);

  using MultiHeadAttention<T>::operator();
  // x [batch, time, d_model], result of the same shape; mask and errors as in MultiHeadAttention.
  Var<T> operator()(const Var<T>& x, const Mask& mask = {}) const;
};

extern template struct SelfAttention<float>;
extern template struct SelfAttention<double>;

}  // namespace weft
