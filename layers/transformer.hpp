// Options and residual connections shared by transformer encoders and decoders.
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

// The type of the norms in a transformer block: LayerNorm or RMSNorm.
enum class Norm { layer_norm, rms_norm };

inline constexpr EnumNames<Norm, 2> norm_names{{
    {Norm::layer_norm, "layer_norm"},
    {Norm::rms_norm, "rms_norm"},
}};
inline std::string to_string(Norm norm) { return name_of("norm", norm, norm_names); }

// A norm of a transformer block; TransformerOptions::norm determines its type.
template <class T>
using BlockNorm = OneOf<T, LayerNorm, RMSNorm>;
// The feed-forward network of a transformer block; TransformerOptions::swiglu determines its type.
template <class T>
using BlockFeedForward = OneOf<T, PositionWiseFeedForward, SwiGLU>;

// Options of a transformer block or a stack of blocks.
struct WEFT_API TransformerOptions {
  Index num_blocks = 1;       // the number of blocks in a stack, > 0
  Index num_hiddens = 0;      // the size of the vectors
  Index ffn_num_hiddens = 0;  // the hidden size of the feed-forward network
  Index num_heads = 1;        // the number of attention heads
  // The size of each head; num_hiddens / num_heads if not set.
  std::optional<Index> head_size = {};
  // The probability of dropping an attention weight, an element inside the feed-forward network,
  // and an element of each sublayer's output.
  double dropout = 0.0;
  Activation activation = Activation::relu;  // the activation in the feed-forward network
  // Whether each sublayer normalizes its input (pre-norm; Xiong et al., 2020) or its output
  // (post-norm; Vaswani et al., 2017).
  bool norm_first = false;
  // Whether the feed-forward network takes the input of the block, as the attention does, instead
  // of the attention's output (Wang and Komatsuzaki, 2021). Only for encoder blocks with
  // norm_first.
  bool parallel_residual = false;
  bool attention_bias = false;                     // whether W_q, W_k, W_v and W_o have a bias
  std::optional<bool> attention_output_bias = {};  // overrides attention_bias for W_o
  // If set, the self-attention applies rotary position embeddings to queries and keys.
  std::optional<RotaryOptions> rotary = {};
  std::optional<double> qk_norm_eps = {};  // for self-attention: see MultiHeadAttentionOptions
  std::optional<Index> window = {};        // for self-attention: see MultiHeadAttentionOptions
  // The number of key and value heads; num_heads if not set (see MultiHeadAttentionOptions).
  std::optional<Index> num_kv_heads = {};
  Scoring scoring = Scoring::scaled_dot_product;  // the scoring function of the attention
  // Whether the feed-forward network is a SwiGLU with `gate_activation` instead of a
  // PositionWiseFeedForward with `activation`.
  bool swiglu = false;
  Activation gate_activation = Activation::silu;  // the activation of a SwiGLU's gate
  bool ffn_bias = true;                           // whether the feed-forward network has biases
  Norm norm = Norm::layer_norm;                   // the type of all norms
  double norm_eps = 1e-5;                         // the eps of all norms (see LayerNormOptions)
  bool norm_bias = true;                          // whether each LayerNorm has a bias
  // Whether training recomputes each block of a stack in backward instead of storing its
  // activations (see weft::recompute). Ignored by a tape that keeps intermediate results.
  bool recompute = false;
  // If set, the self-attention of a stack adds a relative position bias, which all blocks share.
  // The stack sets its num_heads to that of the attention, and a decoder sets `bidirectional` to
  // false.
  std::optional<RelativePositionBiasOptions> position_bias = {};
  // Whether a norm follows the last block of a stack; equals norm_first if not set.
  std::optional<bool> final_norm = {};

  MultiHeadAttentionOptions self_attention() const;   // the options of a block's self-attention
  MultiHeadAttentionOptions cross_attention() const;  // the options of a block's cross-attention
  // Returns the feed-forward network of a block. Throws the same exceptions as the constructors of
  // PositionWiseFeedForward and SwiGLU.
  template <class T>
  BlockFeedForward<T> make_feed_forward(Random& random) const;
  // Returns a norm of a block. Throws the same exceptions as the constructors of LayerNorm and
  // RMSNorm, and ValueError if `norm` is not a value of Norm.
  template <class T>
  BlockNorm<T> make_norm() const;

  // Calls visit(name, value) for each field of `self`, which may be const, and visit(name, value,
  // names) for each enumeration.
  template <class Self, class Visit>
  static void for_each_field(Self& self, const Visit& visit) {
    visit("num_blocks", self.num_blocks);
    visit("num_hiddens", self.num_hiddens);
    visit("ffn_num_hiddens", self.ffn_num_hiddens);
    visit("num_heads", self.num_heads);
    visit("head_size", self.head_size);
    visit("dropout", self.dropout);
    visit("activation", self.activation, activation_names);
    visit("norm_first", self.norm_first);
    visit("parallel_residual", self.parallel_residual);
    visit("attention_bias", self.attention_bias);
    visit("attention_output_bias", self.attention_output_bias);
    visit("rotary", self.rotary);
    visit("qk_norm_eps", self.qk_norm_eps);
    visit("window", self.window);
    visit("num_kv_heads", self.num_kv_heads);
    visit("scoring", self.scoring, scoring_names);
    visit("swiglu", self.swiglu);
    visit("gate_activation", self.gate_activation, activation_names);
    visit("ffn_bias", self.ffn_bias);
    visit("norm", self.norm, norm_names);
    visit("norm_eps", self.norm_eps);
    visit("norm_bias", self.norm_bias);
    visit("recompute", self.recompute);
    visit("position_bias", self.position_bias);
    visit("final_norm", self.final_norm);
  }

  friend bool operator==(const TransformerOptions&, const TransformerOptions&) = default;
};

// Applies a sublayer and its residual connection to x of any shape, and returns y of the same
// shape:
//   y = x + dropout(sublayer(norm(x))) if norm_first
//   y = norm(x + dropout(sublayer(x))) otherwise
template <class T, class Sublayer>
Var<T> add_residual(const Var<T>& x, const BlockNorm<T>& norm, const Dropout<T>& dropout,
                    bool norm_first, const Sublayer& sublayer) {
  if (norm_first) return x + dropout(sublayer(norm(x)));
  return norm(x + dropout(sublayer(x)));
}

}  // namespace weft
