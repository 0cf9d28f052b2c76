// Multi-head scaled dot-product attention as one fused operation, with gradients.
#pragma once

#include <optional>
#include <type_traits>

#include "weft/autograd/export.hpp"
#include "weft/autograd/ops/mask.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

// Options of scaled_dot_product_attention.
struct AttentionOptions {
  Index num_heads = 1;  // number of heads that the last axes are split into, > 0
  Mask mask = {};       // the keys that each query may attend to
  // The dropout probability of the attention weights while the tape trains.
  double dropout = 0.0;
  // Whether the scores are divided by √d.
  bool scaled = true;
};

// Computes multi-head scaled dot-product attention as one fused operation (Vaswani et al., 2017,
// equation 1). For each head:
//   Y = softmax(Q Kᵀ / √d) V
// queries [batch, num_queries, num_heads · d], keys [batch, num_keys, num_heads · d], values
// [batch, num_keys, num_heads · d_v]; head h uses columns [h · d, (h + 1) · d). The result [batch,
// num_queries, num_heads · d_v] concatenates the heads. Masked keys and values do not affect the
// result or any gradient, even if they are NaN. The same holds for queries that attend to no key
// and, if one variable is both queries and keys, for positions that no query attends to. With
// TapeOptions::keep_attention_weights, the tape keeps the attention weights.
// `position_bias` [num_heads, num_queries + num_keys - 1] is added to the scores by relative
// position (Raffel et al., 2020, section 2.1): element num_queries - 1 + k - q to the score of
// query q and key k, in every sequence. Throws ShapeError if the shapes do not match. Throws
// ValueError unless num_heads > 0 divides the sizes of the last axes and 0 ≤ dropout ≤ 1.
//   Var y = scaled_dot_product_attention(q, k, v, {.num_heads = 4, .mask = {.causal = true}});
template <class T>
WEFT_API Var<T> scaled_dot_product_attention(
    const Var<T>& queries, const Var<T>& keys, const Var<T>& values,
    const AttentionOptions& options = {},
    const std::type_identity_t<std::optional<Var<T>>>& position_bias = {});

}  // namespace weft
