#include "weft/layers/models/encoder_classifier.hpp"

#include "layers/internal/checks.hpp"

namespace weft {
namespace {

const EncoderClassifierOptions& checked(const EncoderClassifierOptions& options) {
  check_positive("EncoderClassifier: vocabulary_size", options.vocabulary_size);
  check_positive("EncoderClassifier: num_classes", options.num_classes);
  check_positive("EncoderClassifier: max_len", options.max_len);
  check_positive("EncoderClassifier: num_hiddens", options.transformer.num_hiddens);
  return options;
}

template <class T>
OneOf<T, PositionalEncoding, LearnedPositionalEncoding> positions(
    const EncoderClassifierOptions& options, Random& random) {
  const TransformerOptions& block = options.transformer;
  if (options.learned_positions)
    return LearnedPositionalEncoding<T>(
        {.num_hiddens = block.num_hiddens, .dropout = block.dropout, .max_len = options.max_len},
        random);
  return PositionalEncoding<T>(
      {.num_hiddens = block.num_hiddens, .dropout = block.dropout, .max_len = options.max_len});
}

}  // namespace

template <class T>
EncoderClassifier<T>::EncoderClassifier(const EncoderClassifierOptions& model_options,
                                        Random& random)
    : options(checked(model_options)),
      embedding({.num_embeddings = options.vocabulary_size,
                 .embedding_dim = options.transformer.num_hiddens},
                random),
      position(positions<T>(options, random)),
      encoder(options.transformer, random),
      pooling(options.pooling),
      output({.in_features = options.transformer.num_hiddens, .out_features = options.num_classes},
             random) {}

template <class T>
Var<T> EncoderClassifier<T>::operator()(Tape<T>& tape, const Tokens& tokens,
                                        const ValidLens& valid_lens) const {
  check_tokens("EncoderClassifier: tokens", tokens);
  const Var<T> states = encoder(position(embedding(tape, tokens)), valid_lens);
  return output(pooling(states, valid_lens));
}

template <class T>
std::optional<ModelDescription> EncoderClassifier<T>::description() const {
  return ModelDescription{"EncoderClassifier", option_values(options)};
}

template <class T>
void EncoderClassifier<T>::members(Members<T>& members) const {
  members.type("EncoderClassifier");
  members("embedding", embedding);
  members("position", position);
  members("encoder", encoder);
  members("pooling", pooling);
  members("output", output);
}

template struct EncoderClassifier<float>;
template struct EncoderClassifier<double>;

}  // namespace weft
