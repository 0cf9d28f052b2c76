// What transformer encoders and decoders share: their options, residual connections, and the
// attention weights that they hand out.
#pragma once

#include <optional>
#include <vector>

#include "weft/autograd/ops/arithmetic.hpp"
#include "weft/autograd/ops/elementwise.hpp"
#include "weft/layers/feed_forward.hpp"
#include "weft/layers/layer_norm.hpp"
#include "weft/layers/multi_head_attention.hpp"

namespace weft {

struct TransformerBlockOptions {
  Index num_hiddens = 0;
  // The length of the vectors inside the feed-forward network.
  Index ffn_num_hiddens = 0;
  Index num_heads = 1;
  // The probability of dropping an attention weight, an element inside the feed-forward network,
  // and an element of what each sublayer adds.
  double dropout = 0.0;
  Activation activation = Activation::relu;
  // Each sublayer normalizes what comes in (Xiong et al., 2020); otherwise what goes out (Vaswani
  // et al., 2017).
  bool norm_first = false;
  // Whether W_q, W_k, W_v and W_o have a bias.
  bool attention_bias = false;
  // When given, self-attention rotates its queries and keys by their positions.
  std::optional<RotaryOptions> rotary = {};

  // The options of a block's layers.
  MultiHeadAttentionOptions self_attention() const;
  MultiHeadAttentionOptions cross_attention() const;
  PositionWiseFeedForwardOptions feed_forward() const;
  LayerNormOptions norm() const { return {.num_hiddens = num_hiddens}; }
};

struct TransformerOptions {
  Index num_blocks = 1;
  TransformerBlockOptions block = {};
  // Whether training computes each block again in backward instead of keeping what is inside it
  // (see weft::recompute). Not where attention weights are handed out.
  bool recompute = false;
};

// The attention weights of every block, first block first, for drawing: each tensor is
// [batch, num_heads, num_queries, num_keys], before dropout. Blocks add to what is there.
template <class T = float>
struct AttentionWeights {
  // Of a sequence's attention to itself.
  std::vector<Tensor<T>> self;
  // Of the decoder's attention to the encoder's output.
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
