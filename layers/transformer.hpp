// Shared by transformer encoders and decoders: options and residual connections.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "weft/autograd/enum_names.hpp"
#include "weft/autograd/export.hpp"
#include "weft/autograd/ops/arithmetic.hpp"
#include "weft/autograd/ops/elementwise.hpp"
#include "weft/layers/feed_forward.hpp"
#include "weft/layers/multi_head_attention.hpp"
#include "weft/layers/norm.hpp"
#include "weft/layers/one_of.hpp"
#include "weft/layers/relative_position_bias.hpp"

namespace weft {

// The norms of transformer blocks: LayerNorm and RMSNorm.
enum class Norm { layer_norm, rms_norm };

inline constexpr EnumNames<Norm, 2> norm_names{{
    {Norm::layer_norm, "layer_norm"},
    {Norm::rms_norm, "rms_norm"},
}};
inline std::string to_string(Norm norm) { return name_of("norm", norm, norm_names); }

// The norms that options of a block choose from.
template <class T>
using BlockNorm = OneOf<T, LayerNorm, RMSNorm>;
// The feed-forward networks that options of a block choose from.
template <class T>
using BlockFeedForward = OneOf<T, PositionWiseFeedForward, SwiGLU>;

// Of a block, and of a stack of them.
struct WEFT_API TransformerOptions {
  Index num_blocks = 1;       // of a stack
  Index num_hiddens = 0;      // the size of the vectors
  Index ffn_num_hiddens = 0;  // the hidden size of the feed-forward network
  Index num_heads = 1;        // of the attention layers
  // The size of each head; num_hiddens / num_heads when not given.
  std::optional<Index> head_size = {};
  // The probability of dropping an attention weight, an element inside the feed-forward network,
  // and an element of each sublayer's output.
  double dropout = 0.0;
  Activation activation = Activation::relu;  // of the feed-forward network
  // Whether each sublayer normalizes its input (pre-norm; Xiong et al., 2020) or its output
  // (post-norm; Vaswani et al., 2017).
  bool norm_first = false;
  // Of pre-norm blocks of an encoder: whether the feed-forward network has the input of the block,
  // as the attention has, and not its output (Wang and Komatsuzaki, 2021).
  bool parallel_residual = false;
  bool attention_bias = false;                     // whether W_q, W_k, W_v and W_o have a bias
  std::optional<bool> attention_output_bias = {};  // of W_o, when it differs
  // When given, queries and keys of the self-attention get rotary position embeddings.
  std::optional<RotaryOptions> rotary = {};
  std::optional<double> qk_norm_eps = {};  // of the self-attention: see MultiHeadAttentionOptions
  std::optional<Index> window = {};        // of the self-attention: see MultiHeadAttentionOptions
  // The number of heads of keys and values, when fewer than num_heads (grouped-query attention).
  std::optional<Index> num_kv_heads = {};
  Scoring scoring = Scoring::scaled_dot_product;  // of the attention layers
  // The feed-forward network: SwiGLU, with gate_activation, or a PositionWiseFeedForward, with
  // `activation`.
  bool swiglu = false;
  Activation gate_activation = Activation::silu;  // see SwiGLUOptions
  bool ffn_bias = true;                           // whether its linear layers have a bias
  Norm norm = Norm::layer_norm;                   // the type of all norms
  double norm_eps = 1e-5;                         // see LayerNormOptions
  bool norm_bias = true;                          // of LayerNorm; RMSNorm has none
  // Of a stack: whether training recomputes each block in backward instead of storing its
  // activations (see weft::recompute). Ignored by a tape that keeps intermediates.
  bool recompute = false;
  // Of a stack: when given, its self-attention has a relative position bias, one for all blocks.
  // Its number of heads is that of the queries; that of a decoder is not bidirectional.
  std::optional<RelativePositionBiasOptions> position_bias = {};
  // Of a stack: whether a norm follows the last block; when not given, it does with norm_first.
  std::optional<bool> final_norm = {};

  MultiHeadAttentionOptions self_attention() const;   // of a block's self-attention
  MultiHeadAttentionOptions cross_attention() const;  // of a block's cross-attention
  // A block's feed-forward network. Throws ValueError as its constructor does.
  template <class T>
  BlockFeedForward<T> make_feed_forward(Random& random) const;
  // A norm of a block. Throws ValueError as its constructor does.
  template <class T>
  BlockNorm<T> make_norm() const;

  friend bool operator==(const TransformerOptions&, const TransformerOptions&) = default;
};

// One sublayer with its residual connection, of x's shape:
//   y = x + dropout(sublayer(norm(x))) if norm_first
//   y = norm(x + dropout(sublayer(x))) otherwise
template <class T, class Sublayer>
Var<T> add_residual(const Var<T>& x, const BlockNorm<T>& norm, const Dropout<T>& dropout,
                    bool norm_first, const Sublayer& sublayer) {
  if (norm_first) return x + dropout(sublayer(norm(x)));
  return norm(x + dropout(sublayer(x)));
}

}  // namespace weft
