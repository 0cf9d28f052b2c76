#include "weft/layers/models/encoder_decoder.hpp"

#include "layers/internal/checks.hpp"

namespace weft {
namespace {

const EncoderDecoderOptions& checked(const EncoderDecoderOptions& options) {
  check_positive("EncoderDecoder: source_vocabulary_size", options.source_vocabulary_size);
  check_positive("EncoderDecoder: target_vocabulary_size", options.target_vocabulary_size);
  check_positive("EncoderDecoder: max_len", options.max_len);
  check_positive("EncoderDecoder: num_hiddens", options.transformer.num_hiddens);
  return options;
}

}  // namespace

template <class T>
EncoderDecoder<T>::EncoderDecoder(const EncoderDecoderOptions& options, Random& random)
    : source_embedding({.num_embeddings = checked(options).source_vocabulary_size,
                        .embedding_dim = options.transformer.num_hiddens},
                       random),
      target_embedding({.num_embeddings = options.target_vocabulary_size,
                        .embedding_dim = options.transformer.num_hiddens},
                       random),
      position({.num_hiddens = options.transformer.num_hiddens,
                .dropout = options.transformer.dropout,
                .max_len = options.max_len + 1}),
      encoder(options.transformer, random),
      decoder(options.transformer, random),
      output({.in_features = options.transformer.num_hiddens,
              .out_features = options.target_vocabulary_size},
             random),
      max_len(options.max_len) {}

template <class T>
Var<T> EncoderDecoder<T>::encode(Tape<T>& tape, const Tokens& source,
                                 const ValidLens& source_lens) const {
  check_tokens("EncoderDecoder: source", source);
  return encoder(position(source_embedding(tape, source)), source_lens);
}

template <class T>
Var<T> EncoderDecoder<T>::decode(const Tokens& target, const Var<T>& memory,
                                 const ValidLens& source_lens) const {
  check_tokens("EncoderDecoder: target", target);
  return decoder(position(target_embedding(memory.tape(), target)), memory, source_lens, {});
}

template <class T>
DecoderCache<T> EncoderDecoder<T>::start(const Var<T>& memory, const ValidLens& source_lens) const {
  return decoder.start(memory, source_lens);
}

template <class T>
Var<T> EncoderDecoder<T>::extend(Tape<T>& tape, const Tokens& target,
                                 DecoderCache<T>& cache) const {
  check_tokens("EncoderDecoder: target", target);
  const Tokens positions = cache.self.next_positions(tape, target.shape()[1]);
  return decoder.extend(position(target_embedding(tape, target), positions), cache);
}

template <class T>
Var<T> EncoderDecoder<T>::operator()(Tape<T>& tape, const Tokens& source,
                                     const ValidLens& source_lens, const Tokens& target) const {
  return output(decode(target, encode(tape, source, source_lens), source_lens));
}

template <class T>
void EncoderDecoder<T>::members(Members<T>& members) const {
  members.type("EncoderDecoder");
  members("source_embedding", source_embedding);
  members("target_embedding", target_embedding);
  members("position", position);
  members("encoder", encoder);
  members("decoder", decoder);
  members("output", output);
}

template struct EncoderDecoder<float>;
template struct EncoderDecoder<double>;

}  // namespace weft
