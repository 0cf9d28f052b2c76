// TransformerDecoder: a stack of blocks of self-attention, cross-attention and a feed-forward
// network.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/layers/block_stack.hpp"

namespace weft {

// Causal self-attention, cross-attention to the memory m (an encoder's output), then a feed-forward
// network, each with a residual connection, dropout and a norm (Vaswani et al., 2017, section 3.1):
//   z = norm1(x + self_attention(x)),  u = norm2(z + cross_attention(z, m)),  y = norm3(u + ffn(u))
// With norm_first, the norms are of the sublayers' inputs.
//   TransformerDecoderBlock block({.num_hiddens = 8, .ffn_num_hiddens = 32}, random);
//   Var y = block(x, memory);  // x [2, 5, 8], memory [2, 7, 8], y [2, 5, 8]
template <class T = float>
struct WEFT_API TransformerDecoderBlock : Module<T> {
  // Throws ValueError for sizes that are not > 0, num_heads that does not divide num_hiddens, and a
  // dropout outside 0 … 1.
  TransformerDecoderBlock(const TransformerOptions& options, Random& random);

  // x [batch, time, num_hiddens], memory [batch, memory_time, num_hiddens], result of x's shape.
  // Position i attends to positions 0 … i of x, of these to those that `target_mask` allows (for
  // padded targets), and to those of the memory that `memory_mask` allows; each may be just
  // ValidLens. A position bias is that of the self-attention. The weights of the self-attention,
  // and then those of the cross-attention, are intermediates of the tape. Throws ShapeError and
  // ValueError.
  Var<T> operator()(const Var<T>& x, const Var<T>& memory, const Mask& memory_mask = {},
                    const Mask& target_mask = {},
                    const std::optional<Var<T>>& position_bias = {}) const;
  // The same step by step, with the memory stored in a cache (MultiHeadAttention::store): x
  // [sequences of the caches, time, num_hiddens] are the positions after those of `self`, where
  // their keys and values are stored; result of x's shape. Throws as MultiHeadAttention::extend
  // does.
  //   Var y = block.extend(x, {decoder_cache.self, 0}, {decoder_cache.cross, 0});  // x [2, 1, 8]
  Var<T> extend(const Var<T>& x, const CachedLayer<T>& self, const CachedLayer<T>& cross,
                const std::optional<Var<T>>& position_bias = {}) const;

  void members(Members<T>& members) const override;

  MultiHeadAttention<T> self_attention;   // the first sublayer
  BlockNorm<T> norm1;                     // of the self-attention
  MultiHeadAttention<T> cross_attention;  // the second sublayer
  BlockNorm<T> norm2;                     // of the cross-attention
  BlockFeedForward<T> ffn;                // the third sublayer
  BlockNorm<T> norm3;                     // of the feed-forward network
  Dropout<T> dropout;                     // of the sublayers' results
  bool norm_first;                        // see TransformerOptions

 private:
  // The block with these functions of one variable as its attention.
  template <class AttendToSelf, class AttendToMemory>
  Var<T> apply(const Var<T>& x, const AttendToSelf& attend_to_self,
               const AttendToMemory& attend_to_memory) const;
};

// What a TransformerDecoder keeps from step to step.
template <class T = float>
struct DecoderCache {
  // The keys and values of the target's earlier positions, and of the memory.
  KeyValueCache<T> self, cross;

  // Of both: see KeyValueCache::select.
  void reorder(std::span<const Index> indices) {
    self.reorder(indices);
    cross.reorder(indices);
  }
};

// A stack of decoder blocks, followed by a norm if `final_norm` says so (Vaswani et al., 2017):
//   y = norm(block_n(… block_1(x, m), m))
// The memory m is the same for all.
//   TransformerDecoder decoder({.num_blocks = 2, .num_hiddens = 8, .ffn_num_hiddens = 32}, random);
//   Var y = decoder(x, memory, ValidLens{7, 4});  // x [2, 5, 8], memory [2, 7, 8], y [2, 5, 8]
template <class T = float>
struct WEFT_API TransformerDecoder : BlockStack<T, TransformerDecoderBlock<T>> {
  // Throws ValueError for options that a block rejects, and unless num_blocks > 0.
  TransformerDecoder(const TransformerOptions& options, Random& random);

  // x [batch, time, num_hiddens], memory [batch, memory_time, num_hiddens], result of x's shape;
  // masks and errors as in a block.
  Var<T> operator()(const Var<T>& x, const Var<T>& memory, const Mask& memory_mask = {},
                    const Mask& target_mask = {}) const;

  // For the result of the call above, step by step: computes the keys and values of the memory
  // [batch, memory_time, num_hiddens] once, `memory_lens` [batch] when padded. Throws ShapeError,
  // ValueError for invalid lengths, and Error for a tape that records.
  DecoderCache<T> start(const Var<T>& memory, const ValidLens& memory_lens = {},
                        Index capacity = 16) const;
  // The results, of x's shape, of the positions x [sequences of the cache, time, num_hiddens] that
  // follow those in the cache, which are then in it, too. Throws ShapeError, ValueError for a cache
  // with other sizes, and Error for a tape that records.
  Var<T> extend(const Var<T>& x, DecoderCache<T>& cache) const;
};

extern template struct TransformerDecoderBlock<float>;
extern template struct TransformerDecoderBlock<double>;
extern template struct TransformerDecoder<float>;
extern template struct TransformerDecoder<double>;

}  // namespace weft
