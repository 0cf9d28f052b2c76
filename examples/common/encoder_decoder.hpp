// EncoderDecoder: a transformer that reads one sequence and writes another.
#pragma once

#include <weft/layers.hpp>
#include <weft/train/data/batches.hpp>

namespace weft::examples {

struct EncoderDecoderOptions {
  // The sizes of both vocabularies.
  Index source_symbols = 0;
  Index target_symbols = 0;
  // The most tokens that the model can read, and can write with <eos>.
  Index max_length = 64;
  TransformerOptions transformer = {};
};

// An encoder of source tokens and a decoder of target tokens (Vaswani et al., 2017).
template <class T = float>
struct EncoderDecoder : Module<T> {
  // Throws ValueError for sizes that are not > 0 and options that a block cannot have.
  EncoderDecoder(const EncoderDecoderOptions& options, Random& random);

  // source [batch, time], result [batch, time, width]. `weights`, here and below, is for the
  // encoder and the decoder to hand out theirs.
  Var<T> encode(Tape<T>& tape, const PaddedTokens& source,
                AttentionWeights<T>* weights = nullptr) const;
  // target [batch, time], the first of each row <bos>; memory [batch, source time, width] of
  // lengths `valid_lens`. Result [batch, time, width], for `output` to turn into logits of the
  // token that follows each.
  Var<T> decode(const Tokens& target, const Var<T>& memory, const ValidLens& valid_lens,
                AttentionWeights<T>* weights = nullptr) const;
  // The logits of the token that follows each target token, [batch, time, target symbols].
  Var<T> operator()(Tape<T>& tape, const Batch& batch) const;

  void members(Members<T>& members) override;

  Embedding<T> source_embedding, target_embedding;
  PositionalEncoding<T> position;
  TransformerEncoder<T> encoder;
  TransformerDecoder<T> decoder;
  Linear<T> output;
  Index max_length;
};

// The cross entropy of a batch's labels.
template <class T>
Var<T> loss(const EncoderDecoder<T>& model, Tape<T>& tape, const Batch& batch,
            double label_smoothing = 0.0);

extern template struct EncoderDecoder<float>;
extern template struct EncoderDecoder<double>;

}  // namespace weft::examples
