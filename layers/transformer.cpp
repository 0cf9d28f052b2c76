#include "weft/layers/transformer.hpp"

namespace weft {

MultiHeadAttentionOptions TransformerOptions::self_attention() const {
  MultiHeadAttentionOptions options = cross_attention();
  options.rotary = rotary;
  options.qk_norm_eps = qk_norm_eps;
  options.window = window;
  return options;
}

MultiHeadAttentionOptions TransformerOptions::cross_attention() const {
  return {.query_size = num_hiddens,
          .key_size = num_hiddens,
          .value_size = num_hiddens,
          .num_hiddens = num_hiddens,
          .num_heads = num_heads,
          .head_size = head_size,
          .num_kv_heads = num_kv_heads,
          .scoring = scoring,
          .dropout = dropout,
          .bias = attention_bias,
          .output_bias = attention_output_bias};
}

template <class T>
BlockFeedForward<T> TransformerOptions::make_feed_forward(Random& random) const {
  if (swiglu)
    return SwiGLU<T>({.num_hiddens = num_hiddens,
                      .ffn_num_hiddens = ffn_num_hiddens,
                      .bias = ffn_bias,
                      .dropout = dropout,
                      .activation = gate_activation},
                     random);
  return PositionWiseFeedForward<T>({.num_hiddens = num_hiddens,
                                     .ffn_num_hiddens = ffn_num_hiddens,
                                     .activation = activation,
                                     .dropout = dropout,
                                     .bias = ffn_bias},
                                    random);
}

template <class T>
BlockNorm<T> TransformerOptions::make_norm() const {
  to_string(norm);  // throws for a value that is not a Norm
  if (norm == Norm::rms_norm) return RMSNorm<T>({.num_hiddens = num_hiddens, .eps = norm_eps});
  return LayerNorm<T>({.num_hiddens = num_hiddens, .eps = norm_eps, .bias = norm_bias});
}

template BlockFeedForward<float> TransformerOptions::make_feed_forward(Random&) const;
template BlockFeedForward<double> TransformerOptions::make_feed_forward(Random&) const;
template BlockNorm<float> TransformerOptions::make_norm() const;
template BlockNorm<double> TransformerOptions::make_norm() const;

}  // namespace weft
