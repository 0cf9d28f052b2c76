// Shared by transformer encoders and decoders: options, residual connections and attention weights.
#pragma once

#include <optional>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/autograd/ops/arithmetic.hpp"
#include "weft/autograd/ops/elementwise.hpp"
#include "weft/layers/feed_forward.hpp"
#include "weft/layers/layer_norm.hpp"
#include "weft/layers/multi_head_attention.hpp"

namespace weft {

struct WEFT_API TransformerBlockOptions {
  Index num_hiddens = 0;
  // The hidden size of the feed-forward network.
  Index ffn_num_hiddens = 0;
  Index num_heads = 1;
  // The probability of dropping an attention weight, an element inside the feed-forward network,
  // and an element of each sublayer's output.
  double dropout = 0.0;
  Activation activation = Activation::relu;
  // Whether each sublayer normalizes its input (pre-norm; Xiong et al., 2020) or its output
  // (post-norm; Vaswani et al., 2017).
  bool norm_first = false;
  // Whether W_q, W_k, W_v and W_o have a bias.
  bool attention_bias = false;
  // When given, queries and keys of the self-attention get rotary position embeddings.
  std::optional<RotaryOptions> rotary = {};

  // Returns the options of a block's layers.
  MultiHeadAttentionOptions self_attention() const;
  MultiHeadAttentionOptions cross_attention() const;
  PositionWiseFeedForwardOptions feed_forward() const;
  LayerNormOptions norm() const { return {.num_hiddens = num_hiddens}; }
};

struct TransformerOptions {
  Index num_blocks = 1;
  TransformerBlockOptions block = {};
  // Whether training recomputes each block in backward instead of storing its activations (see
  // weft::recompute). Ignored when attention weights are requested.
  bool recompute = false;
};

// The attention weights of every block, first block first, for visualization: each tensor is
// [batch, num_heads, num_queries, num_keys], before dropout. Each block appends its own.
template <class T = float>
struct AttentionWeights {
  // Of self-attention.
  std::vector<Tensor<T>> self;
  // Of the decoder's cross-attention to the encoder's output.
  std::vector<Tensor<T>> cross;
};

// One sublayer with its residual connection: norm(x + dropout(sublayer(x))), or with norm_first
// x + dropout(sublayer(norm(x))).
template <class T, class Sublayer>
Var<T> add_residual(const Var<T>& x, const LayerNorm<T>& norm, const Dropout<T>& dropout,
                    bool norm_first, const Sublayer& sublayer) {
  if (norm_first) return x + dropout(sublayer(norm(x)));
  return norm(x + dropout(sublayer(x)));
}

}  // namespace weft
