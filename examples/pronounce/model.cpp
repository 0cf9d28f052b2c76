#include "examples/pronounce/model.hpp"

#include "examples/pronounce/dictionary.hpp"

namespace weft::pronounce {

template <class T>
Pronouncer<T>::Pronouncer(const Configuration& configuration, const Language& language,
                          Random& random)
    : letter_embedding(
          {.num_embeddings = language.letters.size(), .embedding_dim = configuration.width},
          random),
      phone_embedding(
          {.num_embeddings = language.phones.size(), .embedding_dim = configuration.width}, random),
      position({.num_hiddens = configuration.width,
                .dropout = configuration.dropout,
                .max_len = static_cast<Index>(max_length) + 1}),
      encoder(configuration.transformer(), random),
      decoder(configuration.transformer(), random),
      output({.in_features = configuration.width, .out_features = language.phones.size()}, random) {
}

template <class T>
Var<T> Pronouncer<T>::encode(Tape<T>& tape, const PaddedTokens& letters,
                             AttentionWeights<T>* weights) const {
  return encoder(position(letter_embedding(tape, letters.tokens)), {letters.valid_lens}, weights);
}

template <class T>
Var<T> Pronouncer<T>::decode(const Tokens& phones, const Var<T>& memory,
                             const ValidLens& valid_lens, AttentionWeights<T>* weights) const {
  return decoder(position(phone_embedding(memory.tape(), phones)), memory, {valid_lens}, weights);
}

template <class T>
Var<T> Pronouncer<T>::operator()(Tape<T>& tape, const Batch& batch) const {
  const Var<T> memory = encode(tape, batch.source);
  return output(decode(batch.target.tokens, memory, batch.source.valid_lens));
}

template <class T>
void Pronouncer<T>::members(Members<T>& members) {
  members.type("Pronouncer");
  members("letter_embedding", letter_embedding);
  members("phone_embedding", phone_embedding);
  members("position", position);
  members("encoder", encoder);
  members("decoder", decoder);
  members("output", output);
}

template <class T>
Var<T> loss(const Pronouncer<T>& model, Tape<T>& tape, const Batch& batch, double label_smoothing) {
  return cross_entropy(model(tape, batch), batch.labels,
                       {.label_smoothing = label_smoothing, .divisor = batch.divisor});
}

template struct Pronouncer<float>;
template struct Pronouncer<double>;
template Var<float> loss(const Pronouncer<float>&, Tape<float>&, const Batch&, double);
template Var<double> loss(const Pronouncer<double>&, Tape<double>&, const Batch&, double);

}  // namespace weft::pronounce
