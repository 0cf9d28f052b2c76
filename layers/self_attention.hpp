// SelfAttention: multi-head attention of a sequence to itself.
#pragma once

#include "weft/layers/multi_head_attention.hpp"

namespace weft {

struct SelfAttentionOptions {
  // The length of the vectors that come in and go out; each head works on d_model / num_heads of
  // them.
  Index d_model = 0;
  Index num_heads = 1;
  Scoring scoring = Scoring::scaled_dot_product;
  // The probability of dropping an attention weight.
  double dropout = 0.0;
  // Whether the four projections have a bias, as those of torch.nn.MultiheadAttention have.
  bool bias = true;
  // When given (RotaryOptions{} for the usual ones), queries and keys are rotated by their
  // positions.
  std::optional<RotaryOptions> rotary = {};
};

// MultiHeadAttention whose queries, keys and values are all of length d_model, and one input
// unless three are given. Its parameters have the names that those of MultiHeadAttention have.
template <class T = float>
struct SelfAttention : MultiHeadAttention<T> {
  // Throws ValueError unless num_heads divides d_model > 0 and 0 ≤ dropout ≤ 1.
  SelfAttention(const SelfAttentionOptions& options, Random& random);

  using MultiHeadAttention<T>::operator();
  // x [batch, time, d_model], result of the same shape. `mask` and `weights` as MultiHeadAttention
  // has them.
  Var<T> operator()(const Var<T>& x, const Mask& mask = {}, Tensor<T>* weights = nullptr) const;
};

extern template struct SelfAttention<float>;
extern template struct SelfAttention<double>;

}  // namespace weft
