// TransformerDecoder: a stack of blocks of self-attention, cross-attention and a feed-forward
// network.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/layers/block_stack.hpp"

namespace weft {

// A decoder block: causal self-attention, cross-attention to the memory m (an encoder's output) and
// a feed-forward network, each with a residual connection, dropout and a norm (Vaswani et al.,
// 2017, section 3.1):
//   z = norm1(x + self_attention(x)),  u = norm2(z + cross_attention(z, m)),  y = norm3(u + ffn(u))
// With norm_first, the norms apply to the inputs of the sublayers.
//   TransformerDecoderBlock block({.num_hiddens = 8, .ffn_num_hiddens = 32}, random);
//   Var y = block(x, memory);  // x [2, 5, 8], memory [2, 7, 8], y [2, 5, 8]
template <class T = float>
struct WEFT_API TransformerDecoderBlock : Module<T> {
  // Throws ValueError unless the sizes are > 0, num_heads divides num_hiddens (if head_size is not
  // set) and 0 ≤ dropout ≤ 1, and for other options that MultiHeadAttention rejects.
  TransformerDecoderBlock(const TransformerOptions& options, Random& random);

  // Takes x [batch, time, num_hiddens] and memory [batch, memory_time, num_hiddens]; the result has
  // the shape of x. Position i attends to the positions of x up to i that `target_mask` allows (for
  // padded targets), and to the positions of the memory that `memory_mask` allows. Both masks may
  // be a ValidLens. `position_bias` is added to the scores of the self-attention. The weights of
  // the self-attention, followed by those of the cross-attention, are intermediate results (see
  // Tape::take_attention_weights). Throws ShapeError, and ValueError for invalid lengths.
  Var<T> operator()(const Var<T>& x, const Var<T>& memory, const Mask& memory_mask = {},
                    const Mask& target_mask = {},
                    const std::optional<Var<T>>& position_bias = {}) const;
  // Computes the block step by step. x [sequences of the caches, time, num_hiddens] contains the
  // positions that follow those in `self`; their keys and values are stored there. The keys and
  // values of the memory are read from `cross` (see MultiHeadAttention::store). The result has the
  // shape of x. Throws the same exceptions as MultiHeadAttention::extend.
  //   Var y = block.extend(x, {decoder_cache.self, 0}, {decoder_cache.cross, 0});  // x [2, 1, 8]
  Var<T> extend(const Var<T>& x, const CachedLayer<T>& self, const CachedLayer<T>& cross,
                const std::optional<Var<T>>& position_bias = {}) const;

  void members(Members<T>& members) const override;

  MultiHeadAttention<T> self_attention;  // the first sublayer
  BlockNorm<T> norm1;                    // before the self-attention with norm_first, else after it
  MultiHeadAttention<T> cross_attention;  // the second sublayer
  BlockNorm<T> norm2;       // before the cross-attention with norm_first, else after it
  BlockFeedForward<T> ffn;  // the third sublayer
  BlockNorm<T> norm3;       // before `ffn` with norm_first, else after it
  Dropout<T> dropout;       // applied to the results of the sublayers
  bool norm_first;          // see TransformerOptions

 private:
  // Applies the block with these functions as its self-attention and cross-attention.
  template <class AttendToSelf, class AttendToMemory>
  Var<T> apply(const Var<T>& x, const AttendToSelf& attend_to_self,
               const AttendToMemory& attend_to_memory) const;
};

// The state of a TransformerDecoder from step to step.
template <class T = float>
struct DecoderCache {
  // The keys and values of the target's earlier positions (`self`), and of the memory (`cross`).
  KeyValueCache<T> self, cross;

  // Selects sequences of both caches; see KeyValueCache::select.
  void reorder(std::span<const Index> indices) {
    self.reorder(indices);
    cross.reorder(indices);
  }
};

// A stack of decoder blocks, followed by a norm if TransformerOptions::final_norm says so (Vaswani
// et al., 2017):
//   y = norm(block_n(… block_1(x, m), m))
// All blocks attend to the same memory m.
//   TransformerDecoder decoder({.num_blocks = 2, .num_hiddens = 8, .ffn_num_hiddens = 32}, random);
//   Var y = decoder(x, memory, ValidLens{7, 4});  // x [2, 5, 8], memory [2, 7, 8], y [2, 5, 8]
template <class T = float>
struct WEFT_API TransformerDecoder : BlockStack<T, TransformerDecoderBlock<T>> {
  // Throws ValueError unless num_blocks > 0, and for options that a block rejects.
  TransformerDecoder(const TransformerOptions& options, Random& random);

  // Takes x [batch, time, num_hiddens] and memory [batch, memory_time, num_hiddens]; the result has
  // the shape of x. For masks and exceptions, see TransformerDecoderBlock.
  Var<T> operator()(const Var<T>& x, const Var<T>& memory, const Mask& memory_mask = {},
                    const Mask& target_mask = {}) const;

  // Prepares decoding step by step: computes the keys and values of memory [batch, memory_time,
  // num_hiddens], with lengths `memory_lens` [batch] if padded. See KeyValueCacheOptions for
  // `capacity`. Throws ShapeError, ValueError for invalid lengths, and Error for a tape that
  // records.
  DecoderCache<T> start(const Var<T>& memory, const ValidLens& memory_lens = {},
                        Index capacity = 16) const;
  // Computes the decoder step by step. x [sequences of the cache, time, num_hiddens] contains the
  // positions that follow those in the cache, and is appended to it. The result has the shape of x.
  // Throws ShapeError, ValueError for a cache of different sizes, and Error for a tape that
  // records.
  Var<T> extend(const Var<T>& x, DecoderCache<T>& cache) const;
};

extern template struct TransformerDecoderBlock<float>;
extern template struct TransformerDecoderBlock<double>;
extern template struct TransformerDecoder<float>;
extern template struct TransformerDecoder<double>;

}  // namespace weft
