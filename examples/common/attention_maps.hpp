// Heat maps of attention weights.
#pragma once

#include <string>
#include <vector>

#include <weft/layers/models/encoder_decoder.hpp>
#include <weft/layers/models/gpt.hpp>
#include <weft/train/data/pairs.hpp>
#include "examples/common/plot.hpp"

namespace weft::examples {

// The attention weights of a TransformerDecoder, one tensor per block.
struct DecoderAttentionWeights {
  std::vector<Tensor<float>> self, cross;
};
// Separates the weights that a tape kept, which alternate between self- and cross-attention.
DecoderAttentionWeights decoder_attention_weights(const std::vector<Tensor<float>>& of_blocks);

// Returns a map for each head of each decoder block: the attention weights of the tokens of
// `answer` and <eos> (rows) over the tokens of `source` (columns).
std::vector<HeatMap> cross_attention_maps(const EncoderDecoder<float>& model,
                                          const TokenIds& source, const TokenIds& answer);

// Returns a map for each head of each block: the attention weights of each token (rows) over itself
// and the tokens before it (columns).
std::vector<HeatMap> self_attention_maps(const Gpt<float>& model, const TokenIds& tokens);

// Returns names for the rows of cross_attention_maps: the symbol of each token, including special
// tokens, and "end".
std::vector<std::string> answer_names(const Vocabulary& vocabulary, const TokenIds& answer);

}  // namespace weft::examples
