#include "weft/layers/transformer.hpp"

namespace weft {

MultiHeadAttentionOptions TransformerBlockOptions::self_attention() const {
  MultiHeadAttentionOptions options = cross_attention();
  options.rotary = rotary;
  return options;
}

MultiHeadAttentionOptions TransformerBlockOptions::cross_attention() const {
  return {.query_size = num_hiddens,
          .key_size = num_hiddens,
          .value_size = num_hiddens,
          .num_hiddens = num_hiddens,
          .num_heads = num_heads,
          .dropout = dropout,
          .bias = attention_bias};
}

PositionWiseFeedForwardOptions TransformerBlockOptions::feed_forward() const {
  return {.num_hiddens = num_hiddens,
          .ffn_num_hiddens = ffn_num_hiddens,
          .activation = activation,
          .dropout = dropout};
}

}  // namespace weft
