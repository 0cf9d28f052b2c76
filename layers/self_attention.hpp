// SelfAttention: multi-head self-attention.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/layers/multi_head_attention.hpp"

namespace weft {

struct SelfAttentionOptions {
  // The size of the input and output vectors. Each head has size num_hiddens / num_heads.
  Index num_hiddens = 0;
  Index num_heads = 1;                            // the number of heads, a divisor of num_hiddens
  Scoring scoring = Scoring::scaled_dot_product;  // the scoring function
  // The probability of dropping an attention weight.
  double dropout = 0.0;
  // Whether W_q, W_k, W_v and W_o have a bias, as they have by default in PyTorch.
  bool bias = false;
  // If set (RotaryOptions{} for the defaults), applies rotary position embeddings to queries and
  // keys.
  std::optional<RotaryOptions> rotary = {};
};

// Multi-head attention of a sequence to itself, `y = attention(x, x, x)` (d2l.ai, section 11.6).
// The call of MultiHeadAttention, with separate queries, keys and values of size num_hiddens, is
// available too. Parameters are named as in MultiHeadAttention.
//   SelfAttention attention({.num_hiddens = 8, .num_heads = 2}, random);
//   Var y = attention(x, Mask{.causal = true});  // x [2, 5, 8], y [2, 5, 8]
template <class T = float>
struct WEFT_API SelfAttention : MultiHeadAttention<T> {
  // Throws ValueError unless num_heads divides num_hiddens > 0 and 0 ≤ dropout ≤ 1.
  SelfAttention(const SelfAttentionOptions& options, Random& random);

  using MultiHeadAttention<T>::operator();
  // Returns the attention of x [batch, time, num_hiddens] to itself; the result has the same shape.
  // Takes the masks and throws the exceptions of MultiHeadAttention.
  Var<T> operator()(const Var<T>& x, const Mask& mask = {}) const;
};

extern template struct SelfAttention<float>;
extern template struct SelfAttention<double>;

}  // namespace weft
