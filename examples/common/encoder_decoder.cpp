#include "examples/common/encoder_decoder.hpp"

namespace weft::examples {

template <class T>
EncoderDecoder<T>::EncoderDecoder(const EncoderDecoderOptions& options, Random& random)
    : source_embedding({.num_embeddings = options.source_symbols,
                        .embedding_dim = options.transformer.block.num_hiddens},
                       random),
      target_embedding({.num_embeddings = options.target_symbols,
                        .embedding_dim = options.transformer.block.num_hiddens},
                       random),
      position({.num_hiddens = options.transformer.block.num_hiddens,
                .dropout = options.transformer.block.dropout,
                .max_len = options.max_length + 1}),
      encoder(options.transformer, random),
      decoder(options.transformer, random),
      output({.in_features = options.transformer.block.num_hiddens,
              .out_features = options.target_symbols},
             random),
      max_length(options.max_length) {}

template <class T>
Var<T> EncoderDecoder<T>::encode(Tape<T>& tape, const PaddedTokens& source,
                                 AttentionWeights<T>* weights) const {
  return encoder(position(source_embedding(tape, source.tokens)), {source.valid_lens}, weights);
}

template <class T>
Var<T> EncoderDecoder<T>::decode(const Tokens& target, const Var<T>& memory,
                                 const ValidLens& valid_lens, AttentionWeights<T>* weights) const {
  return decoder(position(target_embedding(memory.tape(), target)), memory, {valid_lens}, {},
                 weights);
}

template <class T>
Var<T> EncoderDecoder<T>::operator()(Tape<T>& tape, const Batch& batch) const {
  const Var<T> memory = encode(tape, batch.source);
  return output(decode(batch.target.tokens, memory, batch.source.valid_lens));
}

template <class T>
void EncoderDecoder<T>::members(Members<T>& members) {
  members.type("EncoderDecoder");
  members("source_embedding", source_embedding);
  members("target_embedding", target_embedding);
  members("position", position);
  members("encoder", encoder);
  members("decoder", decoder);
  members("output", output);
}

template <class T>
Var<T> loss(const EncoderDecoder<T>& model, Tape<T>& tape, const Batch& batch,
            double label_smoothing) {
  return cross_entropy(model(tape, batch), batch.labels,
                       {.label_smoothing = label_smoothing, .divisor = batch.divisor});
}

template struct EncoderDecoder<float>;
template struct EncoderDecoder<double>;
template Var<float> loss(const EncoderDecoder<float>&, Tape<float>&, const Batch&, double);
template Var<double> loss(const EncoderDecoder<double>&, Tape<double>&, const Batch&, double);

}  // namespace weft::examples
