// TransformerEncoder: a stack of blocks of self-attention and a feed-forward network.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/layers/block_stack.hpp"

namespace weft {

// An encoder block: self-attention and a feed-forward network, each with a residual connection,
// dropout and a norm (Vaswani et al., 2017, section 3.1):
//   z = norm1(x + dropout(attention(x))),  y = norm2(z + dropout(ffn(z)))
// With norm_first, the norms apply to the inputs of the sublayers. With a causal mask, this is a
// block of a decoder-only model such as GPT-2.
//   TransformerEncoderBlock block({.num_hiddens = 8, .ffn_num_hiddens = 32}, random);
//   Var y = block(x, ValidLens{5, 3});  // x [2, 5, 8], y [2, 5, 8]
template <class T = float>
struct WEFT_API TransformerEncoderBlock : Module<T> {
  // Throws ValueError unless the sizes are > 0, num_heads divides num_hiddens (if head_size is not
  // set) and 0 ≤ dropout ≤ 1, for other options that MultiHeadAttention rejects, and for a parallel
  // residual without norm_first.
  TransformerEncoderBlock(const TransformerOptions& options, Random& random);

  // Takes x [batch, time, num_hiddens]; the result has the same shape. `mask`, which may be a
  // ValidLens, selects the positions to which each position attends. `position_bias` is added to
  // the scores (see MultiHeadAttention). Throws ShapeError, and ValueError for invalid lengths.
  Var<T> operator()(const Var<T>& x, const Mask& mask = {},
                    const std::optional<Var<T>>& position_bias = {}) const;
  // Computes the block with a causal mask step by step, like MultiHeadAttention::extend: x
  // [sequences of the cache, time, num_hiddens] contains the positions that follow those in the
  // cache; the result has the same shape. Throws the same exceptions as MultiHeadAttention::extend.
  Var<T> extend(const Var<T>& x, const CachedLayer<T>& layer,
                const std::optional<Var<T>>& position_bias = {}) const;

  void members(Members<T>& members) const override;

  MultiHeadAttention<T> attention;  // the first sublayer
  BlockNorm<T> norm1;               // before the attention with norm_first, else after it
  BlockFeedForward<T> ffn;          // the second sublayer
  BlockNorm<T> norm2;  // before the feed-forward network with norm_first, else after it
  Dropout<T> dropout;  // applied to the results of the sublayers
  bool norm_first, parallel_residual;  // see TransformerOptions

 private:
  // Applies the block with `attend` as its self-attention.
  template <class Attend>
  Var<T> apply(const Var<T>& x, const Attend& attend) const;
};

// A stack of encoder blocks, followed by a norm if TransformerOptions::final_norm says so (Vaswani
// et al., 2017):
//   y = norm(block_n(… block_1(x)))
// With a causal mask, this is the stack of a decoder-only model such as GPT-2.
//   TransformerEncoder encoder({.num_blocks = 2, .num_hiddens = 8, .ffn_num_hiddens = 32}, random);
//   Var y = encoder(x, ValidLens{5, 3});  // x [2, 5, 8], y [2, 5, 8]
template <class T = float>
struct WEFT_API TransformerEncoder : BlockStack<T, TransformerEncoderBlock<T>> {
  // Throws ValueError unless num_blocks > 0, and for options that a block rejects.
  TransformerEncoder(const TransformerOptions& options, Random& random);

  // Takes x [batch, time, num_hiddens]; the result has the same shape. For the mask and exceptions,
  // see TransformerEncoderBlock.
  Var<T> operator()(const Var<T>& x, const Mask& mask = {}) const;

  // Computes the encoder with a causal mask step by step. x [sequences of the cache, time,
  // num_hiddens] contains the positions that follow those in the cache, and is appended to it. The
  // result has the shape of x. Throws ShapeError, ValueError for a cache of different sizes, and
  // Error for a tape that records.
  Var<T> extend(const Var<T>& x, KeyValueCache<T>& cache) const;
  // Returns a cache of `num_sequences` empty sequences. See KeyValueCacheOptions for `capacity`.
  KeyValueCache<T> make_cache(Index num_sequences, Index capacity = 16) const;
};

extern template struct TransformerEncoderBlock<float>;
extern template struct TransformerEncoderBlock<double>;
extern template struct TransformerEncoder<float>;
extern template struct TransformerEncoder<double>;

}  // namespace weft
