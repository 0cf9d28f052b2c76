// The attention weights of models, as heat maps.
#pragma once

#include <string>
#include <vector>

#include <weft/layers/models/encoder_decoder.hpp>
#include <weft/layers/models/gpt.hpp>
#include <weft/train/data/pairs.hpp>
#include "examples/common/plot.hpp"

namespace weft::examples {

// What a tape has kept of a TransformerDecoder, by block.
struct DecoderAttentionWeights {
  std::vector<Tensor<float>> self, cross;
};
DecoderAttentionWeights decoder_attention_weights(const std::vector<Tensor<float>>& of_blocks);

// One map for each head of each decoder block: the attention weights of each token of `answer`
// followed by <eos> (rows) over the tokens of `source` (columns).
std::vector<HeatMap> cross_attention_maps(const EncoderDecoder<float>& model,
                                          const TokenIds& source, const TokenIds& answer);

// One map for each head of each block: the attention weights of each token (rows) over itself and
// those before it (columns).
std::vector<HeatMap> self_attention_maps(const Gpt<float>& model, const TokenIds& tokens);

// The names of the rows of cross_attention_maps: the symbol of each token, special ones too, and
// "end".
std::vector<std::string> answer_names(const Vocabulary& vocabulary, const TokenIds& answer);

}  // namespace weft::examples
