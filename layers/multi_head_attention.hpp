// MultiHeadAttention: parallel attention heads, each on its own projections of the inputs.
#pragma once

#include <optional>

#include "weft/autograd/export.hpp"
#include "weft/autograd/ops/rotary_embedding.hpp"
#include "weft/layers/attention_pooling.hpp"
#include "weft/layers/key_value_cache.hpp"
#include "weft/layers/linear.hpp"
#include "weft/layers/norm.hpp"

namespace weft {

struct MultiHeadAttentionOptions {
  Index query_size = 0;   // the size of the queries
  Index key_size = 0;     // the size of the keys
  Index value_size = 0;   // the size of the values
  Index num_hiddens = 0;  // the size of the output vectors
  Index num_heads = 1;    // the number of heads, > 0
  // The size of each head; num_hiddens / num_heads when not given.
  std::optional<Index> head_size = {};
  // The number of heads that keys and values have, when fewer than num_heads: each is shared by
  // num_heads / num_kv_heads adjacent heads of the queries (grouped-query attention, Ainslie et
  // al., 2023; multi-query attention with 1).
  std::optional<Index> num_kv_heads = {};
  // The scoring function. Additive scoring has num_hiddens / num_heads hidden units, shared by all
  // heads.
  Scoring scoring = Scoring::scaled_dot_product;
  // The probability of dropping an attention weight.
  double dropout = 0.0;
  bool bias = false;                     // whether W_q, W_k, W_v and W_o have a bias
  std::optional<bool> output_bias = {};  // of W_o, when it differs
  // When given (RotaryOptions{} for the defaults), each head's queries and keys, but not its
  // values, get rotary position embeddings: for self-attention.
  std::optional<RotaryOptions> rotary = {};
  // When given, an RMSNorm with this eps of each head's queries and keys, before `rotary`.
  std::optional<double> qk_norm_eps = {};
  // When given, a query attends only to the last so many keys of those up to its own position
  // (sliding window attention, Beltagy et al., 2020): for causal self-attention.
  std::optional<Index> window = {};
};

// Heads that attend in parallel, each with its rows of W_q, W_k and W_v (Vaswani et al., 2017,
// section 3.2.2):
//   Y = W_o [head_1, head_2, …],  head_h = attention(W_q Q, W_k K, W_v V)
// The projections are initialized as in Linear and in d2l.ai.
//   MultiHeadAttention attention({.query_size = 8, .key_size = 8, .value_size = 8,
//                                 .num_hiddens = 8, .num_heads = 2}, random);
//   Var y = attention(q, k, v, ValidLens{3, 2});  // q [2, 4, 8]; k, v [2, 5, 8]; y [2, 4, 8]
template <class T = float>
struct WEFT_API MultiHeadAttention : Module<T> {
  // Throws ValueError unless the sizes are > 0, num_heads divides num_hiddens when there is no
  // head_size, num_kv_heads divides num_heads, heads have an even size with `rotary`, qk_norm_eps
  // ≥ 0, window > 0, and 0 ≤ dropout ≤ 1.
  MultiHeadAttention(const MultiHeadAttentionOptions& options, Random& random);

  // queries [batch, num_queries, query_size], keys [batch, num_keys, key_size], values
  // [batch, num_keys, value_size], result [batch, num_queries, num_hiddens]. `mask` may be only
  // ValidLens. Keys and values that are masked for all queries, even if NaN, affect neither the
  // result nor a gradient, nor do queries that attend to no key; when the queries are the keys, as
  // in self-attention, positions that are masked as keys count as zeros in the queries if they are
  // not finite. The attention weights are an intermediate of the tape. Throws
  // ShapeError, and ValueError for valid_lens that are negative or greater than num_keys.
  // `position_bias` [num_heads, num_queries + num_keys - 1], that of a RelativePositionBias, is
  // added to the scores.
  Var<T> operator()(const Var<T>& queries, const Var<T>& keys, const Var<T>& values,
                    const Mask& mask = {}, const std::optional<Var<T>>& position_bias = {}) const;

  // Returns x [batch, time, query_size] for self-attention, and for the other branches of a block.
  // If a position that no position attends to is not finite, all such positions are zeros in the
  // result. Throws the same exceptions as the call.
  Var<T> without_hidden(const Var<T>& x, const Mask& mask) const;

  // Causal self-attention step by step: x [sequences of the cache, time, query_size] are the
  // positions after those that the layer of the cache has. Stores their keys and values there, and
  // returns what the call above returns for them with a causal mask over all positions, [sequences,
  // time, num_hiddens]. After the last layer, KeyValueCache::advance(time) ends the step. Throws
  // ShapeError, ValueError for a cache with other sizes, and Error for a tape that records. Of a
  // position bias, num_keys is time + the largest length in the cache.
  Var<T> extend(const Var<T>& x, const CachedLayer<T>& layer,
                const std::optional<Var<T>>& position_bias = {}) const;
  // For cross-attention step by step: stores the keys and values of a memory [sequences of the
  // cache, memory_time, key_size] once. Throws as `extend` does, and ValueError with rotary
  // positions, which are of self-attention.
  void store(const Var<T>& memory, const CachedLayer<T>& layer) const;
  // Cross-attention of queries [sequences of the cache, time, query_size] to all positions that
  // were stored for their sequences: [sequences, time, num_hiddens]. Throws as `store` does.
  Var<T> attend(const Var<T>& queries, const CachedLayer<T>& layer) const;
  // The options of a cache with `num_layers` layers like this one.
  KeyValueCacheOptions cache_options(Index num_layers, Index capacity) const;

  void members(Members<T>& members) const override;

  AttentionPooling<T> attention;             // of the heads
  Linear<T> W_q, W_k, W_v, W_o;              // the projections of inputs and result
  std::optional<RMSNorm<T>> q_norm, k_norm;  // see MultiHeadAttentionOptions::qk_norm_eps
  std::optional<RotaryOptions> rotary;       // see MultiHeadAttentionOptions
  std::optional<Index> window;               // see MultiHeadAttentionOptions

  // The number of heads of keys and values.
  Index num_kv_heads() const { return num_kv_heads_; }

 private:
  void check_cache(const CachedLayer<T>& layer) const;
  // Queries or keys with their norm and their positions; those of sequences that begin at
  // `first_positions`, or at 0 when it is null.
  Var<T> placed(const Var<T>& x, const std::optional<RMSNorm<T>>& norm, Index num_heads,
                const Tokens* first_positions) const;

  Index num_kv_heads_;
};

extern template struct MultiHeadAttention<float>;
extern template struct MultiHeadAttention<double>;

}  // namespace weft
