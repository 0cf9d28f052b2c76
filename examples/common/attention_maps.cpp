#include "examples/common/attention_maps.hpp"

#include <weft/autograd/error.hpp>

namespace weft::examples {

namespace {

// Those of the first sequence of each [batch, heads, queries, keys].
std::vector<HeatMap> maps_of(const std::vector<Tensor<float>>& blocks) {
  std::vector<HeatMap> maps;
  for (std::size_t block = 0; block < blocks.size(); ++block) {
    const Tensor<float>& weights = blocks[block];
    const Shape shape{weights.shape()[2], weights.shape()[3]};
    for (Index head = 0; head < weights.shape()[1]; ++head) {
      const auto values =
          weights.values().subspan(static_cast<std::size_t>(head * shape.elements()),
                                   static_cast<std::size_t>(shape.elements()));
      maps.push_back({concatenate_text("block ", block + 1, ", head ", head + 1),
                      Tensor<float>(shape, values)});
    }
  }
  return maps;
}

}  // namespace

std::vector<HeatMap> cross_attention_maps(const EncoderDecoder<float>& model,
                                          const Sequence& source, const Sequence& answer) {
  Sequence decoder_input{Vocabulary::bos};
  decoder_input.insert(decoder_input.end(), answer.begin(), answer.end());

  Tape tape = Tape<float>::inference();
  const PaddedTokens sources = pad_sequences({&source, 1});
  AttentionWeights<float> weights;
  model.decode(pad_sequences({&decoder_input, 1}).tokens,
               model.encode(tape, sources.tokens, sources.valid_lens), sources.valid_lens,
               &weights);
  return maps_of(weights.cross);
}

std::vector<HeatMap> self_attention_maps(const Gpt<float>& model, const Sequence& tokens) {
  Tape tape = Tape<float>::inference();
  AttentionWeights<float> weights;
  model(tape, Tokens({1, std::ssize(tokens)}, tokens), &weights);
  return maps_of(weights.self);
}

std::vector<std::string> answer_names(const Vocabulary& vocabulary, const Sequence& answer) {
  std::vector<std::string> names;
  for (const TokenId token : answer) names.push_back(vocabulary.symbol(token));
  names.push_back("end");
  return names;
}

}  // namespace weft::examples
