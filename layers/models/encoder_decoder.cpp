#include "weft/layers/models/encoder_decoder.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "weft/autograd/ops/elementwise.hpp"
#include "weft/autograd/ops/linear.hpp"
#include "layers/internal/checks.hpp"

namespace weft {
namespace {

const EncoderDecoderOptions& checked(const EncoderDecoderOptions& options) {
  check_positive("EncoderDecoder: source_vocabulary_size", options.source_vocabulary_size);
  check_positive("EncoderDecoder: target_vocabulary_size", options.target_vocabulary_size);
  check_positive("EncoderDecoder: max_len", options.max_len);
  check_positive("EncoderDecoder: num_hiddens", options.transformer.num_hiddens);
  if (options.shared_embedding && options.target_vocabulary_size != options.source_vocabulary_size)
    fail<ValueError>("EncoderDecoder: target_vocabulary_size",
                     str_cat("source_vocabulary_size, ", options.source_vocabulary_size,
                             ", with a shared embedding"),
                     options.target_vocabulary_size);
  return options;
}

TransformerOptions of_decoder(const EncoderDecoderOptions& options) {
  TransformerOptions decoder = options.transformer;
  decoder.num_blocks = options.num_decoder_blocks.value_or(decoder.num_blocks);
  return decoder;
}

}  // namespace

template <class T>
EncoderDecoder<T>::EncoderDecoder(const EncoderDecoderOptions& model_options, Random& random)
    : options(checked(model_options)),
      source_embedding({.num_embeddings = options.source_vocabulary_size,
                        .embedding_dim = options.transformer.num_hiddens},
                       random),
      target_embedding(
          options.shared_embedding
              ? std::nullopt
              : std::optional(Embedding<T>({.num_embeddings = options.target_vocabulary_size,
                                            .embedding_dim = options.transformer.num_hiddens},
                                           random))),
      dropout(options.transformer.dropout),
      encoder(options.transformer, random),
      decoder(of_decoder(options), random) {
  // No table of this size fits into memory.
  constexpr Index most = std::numeric_limits<Index>::max();
  if (!options.transformer.position_bias)
    position.emplace(PositionalEncodingOptions{.num_hiddens = options.transformer.num_hiddens,
                                               .dropout = options.transformer.dropout,
                                               .max_len = std::min(options.max_len, most - 1) + 1});
  if (!options.tied)
    output.emplace(LinearOptions{.in_features = options.transformer.num_hiddens,
                                 .out_features = options.target_vocabulary_size,
                                 .bias = options.output_bias},
                   random);
}

template <class T>
Var<T> EncoderDecoder<T>::encode(Tape<T>& tape, const Tokens& source,
                                 const ValidLens& source_lens) const {
  check_tokens("EncoderDecoder: source", source);
  const Var<T> x = source_embedding(tape, source);
  return encoder(position ? (*position)(x) : dropout(x), source_lens);
}

template <class T>
Var<T> EncoderDecoder<T>::decode(const Tokens& target, const Var<T>& memory,
                                 const ValidLens& source_lens) const {
  check_tokens("EncoderDecoder: target", target);
  const Var<T> x = target_tokens()(memory.tape(), target);
  return decoder(position ? (*position)(x) : dropout(x), memory, source_lens, {});
}

template <class T>
DecoderCache<T> EncoderDecoder<T>::start(const Var<T>& memory, const ValidLens& source_lens) const {
  return decoder.start(memory, source_lens);
}

template <class T>
Var<T> EncoderDecoder<T>::extend(Tape<T>& tape, const Tokens& target,
                                 DecoderCache<T>& cache) const {
  check_tokens("EncoderDecoder: target", target);
  Var<T> x = target_tokens()(tape, target);
  if (position) x = (*position)(x, cache.self.next_positions(tape, target.shape()[1]));
  return decoder.extend(position ? x : dropout(x), cache);
}

template <class T>
Var<T> EncoderDecoder<T>::logits(const Var<T>& states) const {
  const double size = static_cast<double>(source_embedding.weight.shape()[1]);
  const Var<T> x = options.scales_output ? scale(states, 1.0 / std::sqrt(size)) : states;
  return output ? (*output)(x) : linear(x, x.tape().parameter(target_tokens().weight));
}

template <class T>
Var<T> EncoderDecoder<T>::operator()(Tape<T>& tape, const Tokens& source,
                                     const ValidLens& source_lens, const Tokens& target) const {
  return logits(decode(target, encode(tape, source, source_lens), source_lens));
}

template <class T>
std::optional<ModelDescription> EncoderDecoder<T>::description() const {
  return ModelDescription{"EncoderDecoder", option_values(options)};
}

template <class T>
void EncoderDecoder<T>::members(Members<T>& members) const {
  members.type("EncoderDecoder");
  members("source_embedding", source_embedding);
  members("target_embedding", target_embedding);
  if (!target_embedding) members("target_embedding.weight", source_embedding.weight);
  members("position", position);
  if (!position) members("dropout", dropout);
  members("encoder", encoder);
  members("decoder", decoder);
  members("output", output);
  if (!output) members("output.weight", target_tokens().weight);
}

template struct EncoderDecoder<float>;
template struct EncoderDecoder<double>;

}  // namespace weft
