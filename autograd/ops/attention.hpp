// Multi-head scaled dot-product attention as one fused operation, with gradients.
#pragma once

#include <optional>
#include <type_traits>

#include "weft/autograd/export.hpp"
#include "weft/autograd/ops/mask.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

// Of scaled_dot_product_attention.
struct AttentionOptions {
  Index num_heads = 1;  // that the last axes are split into, > 0
  Mask mask = {};       // the keys that queries attend to
  // Dropout probability of the attention weights, while the tape trains.
  double dropout = 0.0;
  // Whether the scores are divided by √d.
  bool scaled = true;
};

// Attention of each head, one fused operation (Vaswani et al., 2017, equation 1):
//   Y = softmax(Q Kᵀ / √d) V
// queries [batch, num_queries, num_heads · d], keys [batch, num_keys, num_heads · d], values
// [batch, num_keys, num_heads · d_v]; head h has columns h · d … (h + 1) · d. Result
// [batch, num_queries, num_heads · d_v], heads concatenated. Masked keys and values, even NaN,
// affect neither the result nor a gradient, nor do queries that attend to no key; when one variable
// is queries and keys, nor do its positions that no query attends to. The weights are an
// intermediate of the tape. `position_bias` [num_heads, num_queries + num_keys - 1] is added to the
// scores by the distance of the two positions: its element num_queries - 1 + k - q to that of query
// q and key k, in every sequence (Raffel et al., 2020, section 2.1). Throws ShapeError, and
// ValueError unless num_heads > 0 divides the vectors and 0 ≤ dropout ≤ 1.
//   Var y = scaled_dot_product_attention(q, k, v, {.num_heads = 4, .mask = {.causal = true}});
template <class T>
WEFT_API Var<T> scaled_dot_product_attention(
    const Var<T>& queries, const Var<T>& keys, const Var<T>& values,
    const AttentionOptions& options = {},
    const std::type_identity_t<std::optional<Var<T>>>& position_bias = {});

}  // namespace weft
