// MultiHeadAttention: parallel attention heads, each with its own projections of the inputs.
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
  // The size of each head; num_hiddens / num_heads if not set.
  std::optional<Index> head_size = {};
  // The number of key and value heads; num_heads if not set. Each is shared by num_heads /
  // num_kv_heads adjacent query heads (grouped-query attention, Ainslie et al., 2023; multi-query
  // attention with 1).
  std::optional<Index> num_kv_heads = {};
  // The scoring function. With additive scoring, there are as many hidden units as the size of a
  // head, and all heads share them.
  Scoring scoring = Scoring::scaled_dot_product;
  // The probability of dropping an attention weight.
  double dropout = 0.0;
  bool bias = false;                     // whether W_q, W_k, W_v and W_o have a bias
  std::optional<bool> output_bias = {};  // overrides `bias` for W_o
  // If set (RotaryOptions{} for the defaults), applies rotary position embeddings to the queries
  // and keys of each head. For self-attention only.
  std::optional<RotaryOptions> rotary = {};
  // If set, applies an RMSNorm with this eps to the queries and keys of each head, before `rotary`.
  std::optional<double> qk_norm_eps = {};
  // If set, a query attends only to the last `window` keys up to its own position (sliding window
  // attention, Beltagy et al., 2020). For causal self-attention only.
  std::optional<Index> window = {};
};

// Attention heads that work in parallel, each with its own rows of W_q, W_k and W_v (Vaswani et
// al., 2017, section 3.2.2):
//   Y = W_o [head_1, head_2, …],  head_h = attention(W_q Q, W_k K, W_v V)
// The projections are initialized as in Linear and in d2l.ai.
//   MultiHeadAttention attention({.query_size = 8, .key_size = 8, .value_size = 8,
//                                 .num_hiddens = 8, .num_heads = 2}, random);
//   Var y = attention(q, k, v, ValidLens{3, 2});  // q [2, 4, 8]; k, v [2, 5, 8]; y [2, 4, 8]
template <class T = float>
struct WEFT_API MultiHeadAttention : Module<T> {
  // Throws ValueError unless the sizes and `window` are > 0, num_heads divides num_hiddens (if
  // head_size is not set), num_kv_heads divides num_heads, qk_norm_eps ≥ 0, and 0 ≤ dropout ≤ 1.
  // With `rotary`, also throws ValueError for options that `check_rotary` rejects, such as an odd
  // number of rotated channels.
  MultiHeadAttention(const MultiHeadAttentionOptions& options, Random& random);

  // Takes queries [batch, num_queries, query_size], keys [batch, num_keys, key_size] and values
  // [batch, num_keys, value_size]; returns [batch, num_queries, num_hiddens]. `mask` may be a
  // ValidLens. `position_bias` [num_heads, num_queries + num_keys - 1], the result of a
  // RelativePositionBias, is added to the scores. The attention weights are an intermediate result
  // (see Tape::take_attention_weights).
  //
  // Keys and values that are masked for all queries affect neither the result nor any gradient,
  // even if NaN; neither do queries that attend to no key. If queries and keys are the same
  // variable, as in self-attention, a query that is not finite counts as zeros if its position is
  // masked as a key.
  //
  // Throws ShapeError, and ValueError unless 0 ≤ valid_lens ≤ num_keys.
  Var<T> operator()(const Var<T>& queries, const Var<T>& keys, const Var<T>& values,
                    const Mask& mask = {}, const std::optional<Var<T>>& position_bias = {}) const;

  // Removes NaN and infinities of padding: returns x [batch, time, query_size] with zeros at all
  // positions to which no position attends, if any of these is not finite, and x itself otherwise.
  // A block applies it before self-attention, because its other branches use x too. Throws the same
  // exceptions as the call.
  Var<T> without_hidden(const Var<T>& x, const Mask& mask) const;

  // Computes causal self-attention step by step. x [sequences of the cache, time, query_size]
  // contains the positions that follow those in the cache; their keys and values are stored in
  // `layer`. Returns [sequences, time, num_hiddens], as the call would with a causal mask over all
  // positions. After the last layer, KeyValueCache::advance(time) ends the step. `position_bias` is
  // for num_queries = time and num_keys = time + the largest length in the cache. Throws
  // ShapeError, ValueError if the cache has a different number or size of heads, and Error for a
  // tape that records.
  Var<T> extend(const Var<T>& x, const CachedLayer<T>& layer,
                const std::optional<Var<T>>& position_bias = {}) const;
  // Prepares cross-attention step by step: stores the keys and values of memory [sequences of the
  // cache, memory_time, key_size] in `layer`; KeyValueCache::advance then makes them visible to
  // `attend`. Throws the same exceptions as `extend`, and ValueError with `rotary`, which is for
  // self-attention only.
  void store(const Var<T>& memory, const CachedLayer<T>& layer) const;
  // Computes cross-attention step by step: queries [sequences of the cache, time, query_size]
  // attend to all stored positions of their sequences. Returns [sequences, time, num_hiddens].
  // Throws ShapeError, and ValueError if the cache has a different number or size of heads.
  Var<T> attend(const Var<T>& queries, const CachedLayer<T>& layer) const;
  // Returns the options of a cache with `num_layers` layers like this one.
  KeyValueCacheOptions cache_options(Index num_layers, Index capacity) const;

  void members(Members<T>& members) const override;

  AttentionPooling<T> attention;  // computes the heads
  Linear<T> W_q, W_k, W_v, W_o;   // the projections of the queries, keys, values and result
  std::optional<RMSNorm<T>> q_norm, k_norm;  // see MultiHeadAttentionOptions::qk_norm_eps
  std::optional<RotaryOptions> rotary;       // see MultiHeadAttentionOptions
  std::optional<Index> window;               // see MultiHeadAttentionOptions

  // Returns the number of key and value heads.
  Index num_kv_heads() const { return num_kv_heads_; }

 private:
  void check_cache(const CachedLayer<T>& layer) const;
  // Returns queries or keys with the norm and rotary positions applied. Positions of a sequence
  // start at its element of `first_positions`, or at 0 if that is null.
  Var<T> placed(const Var<T>& x, const std::optional<RMSNorm<T>>& norm, Index num_heads,
                const Tokens* first_positions) const;

  Index num_kv_heads_;
};

extern template struct MultiHeadAttention<float>;
extern template struct MultiHeadAttention<double>;

}  // namespace weft
