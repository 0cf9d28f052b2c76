// DotProductAttention: attention whose scores are scaled dot products.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/layers/attention_pooling.hpp"

namespace weft {

struct DotProductAttentionOptions {
  // The probability of dropping an attention weight.
  double dropout = 0.0;
  // The last axis is split into this many heads, which attend independently.
  Index num_heads = 1;
};

// `Y = softmax(Q Kᵀ / √d) V` for each head (Vaswani et al., 2017, equation 1): an AttentionPooling
// with scaled dot products. It has no parameters, so its constructor needs no Random.
//   DotProductAttention attention({.dropout = 0.5});
//   Var y = attention(q, k, v, ValidLens{3, 2});  // q [2, 4, 8], k [2, 5, 8], v [2, 5, 8]
template <class T = float>
struct WEFT_API DotProductAttention : AttentionPooling<T> {
  // Throws ValueError unless num_heads > 0 and 0 ≤ dropout ≤ 1.
  explicit DotProductAttention(const DotProductAttentionOptions& options);

  void members(Members<T>& members) const override;
};

extern template struct DotProductAttention<float>;
extern template struct DotProductAttention<double>;

}  // namespace weft
