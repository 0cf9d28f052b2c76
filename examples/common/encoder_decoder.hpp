// EncoderDecoder: a sequence-to-sequence transformer.
#pragma once

#include <weft/layers.hpp>
#include <weft/train/data/pairs.hpp>

namespace weft::examples {

struct EncoderDecoderOptions {
  // The vocabulary sizes.
  Index source_symbols = 0;
  Index target_symbols = 0;
  // The maximum number of source tokens, and of target tokens including <eos>.
  Index max_length = 64;
  TransformerOptions transformer = {};
};

// A transformer encoder and decoder with token embeddings (Vaswani et al., 2017).
template <class T = float>
struct EncoderDecoder : Module<T> {
  // Throws ValueError for sizes that are not > 0 and invalid transformer options.
  EncoderDecoder(const EncoderDecoderOptions& options, Random& random);

  // source [batch, time], result [batch, time, width]. `weights`, here and below, receives the
  // attention weights unless null.
  Var<T> encode(Tape<T>& tape, const PaddedTokens& source,
                AttentionWeights<T>* weights = nullptr) const;
  // target [batch, time], each row starting with <bos>; memory [batch, source time, width] with
  // lengths `valid_lens`. Result [batch, time, width]; `output` maps it to the logits of the next
  // tokens.
  Var<T> decode(const Tokens& target, const Var<T>& memory, const ValidLens& valid_lens,
                AttentionWeights<T>* weights = nullptr) const;
  // The next-token logits at each target position, [batch, time, target symbols].
  Var<T> operator()(Tape<T>& tape, const PairBatch& batch) const;

  void members(Members<T>& members) override;

  Embedding<T> source_embedding, target_embedding;
  PositionalEncoding<T> position;
  TransformerEncoder<T> encoder;
  TransformerDecoder<T> decoder;
  Linear<T> output;
  Index max_length;
};

// The cross entropy of the batch's labels.
template <class T>
Var<T> loss(const EncoderDecoder<T>& model, Tape<T>& tape, const PairBatch& batch,
            double label_smoothing = 0.0);

extern template struct EncoderDecoder<float>;
extern template struct EncoderDecoder<double>;

}  // namespace weft::examples
