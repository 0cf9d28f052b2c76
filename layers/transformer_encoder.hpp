// TransformerEncoder: a stack of blocks of self-attention and a feed-forward network.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/layers/block_stack.hpp"

namespace weft {

// Self-attention, then a feed-forward network, each with a residual connection, dropout and a norm
// (Vaswani et al., 2017, section 3.1):
//   z = norm1(x + dropout(attention(x))),  y = norm2(z + dropout(ffn(z)))
// With a causal mask it is a block of a decoder-only model such as GPT-2.
//   TransformerEncoderBlock block({.num_hiddens = 8, .ffn_num_hiddens = 32}, random);
//   Var y = block(x, ValidLens{5, 3});  // x [2, 5, 8], y [2, 5, 8]
template <class T = float>
struct WEFT_API TransformerEncoderBlock : Module<T> {
  // Throws ValueError for sizes that are not > 0, num_heads that does not divide num_hiddens, and a
  // dropout outside 0 … 1, and for a parallel residual without norm_first.
  TransformerEncoderBlock(const TransformerOptions& options, Random& random);

  // x [batch, time, num_hiddens], result of the same shape. `mask` (which may be just ValidLens)
  // selects the positions that each position attends to; a position bias is that of
  // MultiHeadAttention. Throws ShapeError and ValueError.
  Var<T> operator()(const Var<T>& x, const Mask& mask = {},
                    const std::optional<Var<T>>& position_bias = {}) const;
  // The same step by step, with a causal mask: x [sequences of the cache, time, num_hiddens],
  // result of the same shape. See MultiHeadAttention::extend, also for what it throws.
  Var<T> extend(const Var<T>& x, const CachedLayer<T>& layer,
                const std::optional<Var<T>>& position_bias = {}) const;

  void members(Members<T>& members) const override;

  MultiHeadAttention<T> attention;     // the first sublayer
  BlockNorm<T> norm1;                  // of the attention
  BlockFeedForward<T> ffn;             // the second sublayer
  BlockNorm<T> norm2;                  // of the feed-forward network
  Dropout<T> dropout;                  // of the sublayers' results
  bool norm_first, parallel_residual;  // see TransformerOptions

 private:
  // The block with attend(y) as its self-attention.
  template <class Attend>
  Var<T> apply(const Var<T>& x, const Attend& attend) const;
};

// A stack of encoder blocks, followed by a norm if `final_norm` says so (Vaswani et al., 2017):
//   y = norm(block_n(… block_1(x)))
// The norm is that of TransformerOptions::final_norm.
//   TransformerEncoder encoder({.num_blocks = 2, .num_hiddens = 8, .ffn_num_hiddens = 32}, random);
//   Var y = encoder(x, ValidLens{5, 3});  // x [2, 5, 8], y [2, 5, 8]
template <class T = float>
struct WEFT_API TransformerEncoder : BlockStack<T, TransformerEncoderBlock<T>> {
  // Throws ValueError for options that a block rejects, and unless num_blocks > 0.
  TransformerEncoder(const TransformerOptions& options, Random& random);

  // x [batch, time, num_hiddens], result of the same shape; mask and errors as in a block.
  Var<T> operator()(const Var<T>& x, const Mask& mask = {}) const;

  // The result of the call above with a causal mask, step by step: x [sequences of the cache, time,
  // num_hiddens] are positions that follow those in the cache, which are then in it, too. Result of
  // x's shape. Throws ShapeError, ValueError for a cache with other sizes, and Error for a tape
  // that records.
  Var<T> extend(const Var<T>& x, KeyValueCache<T>& cache) const;
  // A cache for `num_sequences` sequences; see KeyValueCacheOptions for the capacity.
  KeyValueCache<T> make_cache(Index num_sequences, Index capacity = 16) const;
};

extern template struct TransformerEncoderBlock<float>;
extern template struct TransformerEncoderBlock<double>;
extern template struct TransformerEncoder<float>;
extern template struct TransformerEncoder<double>;

}  // namespace weft
