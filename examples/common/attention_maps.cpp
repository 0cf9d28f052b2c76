#include "examples/common/attention_maps.hpp"

#include <weft/autograd/error.hpp>

namespace weft::examples {

namespace {

// Returns the maps of the first sequence in the weights [batch, heads, queries, keys] of each
// block.
std::vector<HeatMap> maps_of(const std::vector<Tensor<float>>& blocks) {
  std::vector<HeatMap> maps;
  for (std::size_t block = 0; block < blocks.size(); ++block) {
    const Tensor<float>& weights = blocks[block];
    const Shape shape{weights.shape()[2], weights.shape()[3]};
    for (Index head = 0; head < weights.shape()[1]; ++head) {
      const auto values =
          weights.values().subspan(static_cast<std::size_t>(head * shape.elements()),
                                   static_cast<std::size_t>(shape.elements()));
      maps.push_back(
          {str_cat("block ", block + 1, ", head ", head + 1), Tensor<float>(shape, values)});
    }
  }
  return maps;
}

}  // namespace

DecoderAttentionWeights decoder_attention_weights(const std::vector<Tensor<float>>& of_blocks) {
  DecoderAttentionWeights weights;
  for (std::size_t i = 0; i < of_blocks.size(); ++i)
    (i % 2 == 0 ? weights.self : weights.cross).push_back(of_blocks[i]);
  return weights;
}

std::vector<HeatMap> cross_attention_maps(const EncoderDecoder<float>& model,
                                          const TokenIds& source, const TokenIds& answer) {
  TokenIds decoder_input{Vocabulary::bos};
  decoder_input.insert(decoder_input.end(), answer.begin(), answer.end());

  Tape tape({.recording = false, .keep_attention_weights = true});
  const PaddedTokens sources = pad_sequences({&source, 1});
  const Var memory = model.encode(tape, sources.tokens, sources.valid_lens);
  tape.take_attention_weights();
  model.decode(pad_sequences({&decoder_input, 1}).tokens, memory, sources.valid_lens);
  return maps_of(decoder_attention_weights(tape.take_attention_weights()).cross);
}

std::vector<HeatMap> self_attention_maps(const Gpt<float>& model, const TokenIds& tokens) {
  Tape tape({.recording = false, .keep_attention_weights = true});
  model(tape, Tokens({1, std::ssize(tokens)}, tokens));
  return maps_of(tape.take_attention_weights());
}

std::vector<std::string> answer_names(const Vocabulary& vocabulary, const TokenIds& answer) {
  std::vector<std::string> names;
  for (const TokenId token : answer) names.push_back(vocabulary.symbol(token));
  names.emplace_back("end");
  return names;
}

}  // namespace weft::examples
