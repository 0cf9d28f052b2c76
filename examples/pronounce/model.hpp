// Pronouncer: a transformer that reads the letters of words and says their phones.
#pragma once

#include "examples/pronounce/configuration.hpp"
#include "examples/pronounce/language.hpp"
#include "layers/layers.hpp"
#include "train/batches.hpp"

namespace weft::pronounce {

// An encoder of letters and a decoder of phones (Vaswani et al., 2017), normalizing before each
// sublayer.
template <class T = float>
struct Pronouncer : Module<T> {
  // Throws ValueError for a configuration outside its ranges.
  Pronouncer(const Configuration& configuration, const Language& language, Random& random);

  // letters [batch, time], result [batch, time, width]. `weights`, here and below, is for the
  // encoder and the decoder to hand out theirs.
  Var<T> encode(Tape<T>& tape, const PaddedTokens& letters,
                AttentionWeights<T>* weights = nullptr) const;
  // phones [batch, time], the first of each row <bos>; memory [batch, letters, width] of lengths
  // `valid_lens`. Result [batch, time, width], for `output` to turn into logits of the phone that
  // follows each.
  Var<T> decode(const Tokens& phones, const Var<T>& memory, const ValidLens& valid_lens,
                AttentionWeights<T>* weights = nullptr) const;
  // The logits of the phone that follows each phone of the batch, [batch, time, phones].
  Var<T> operator()(Tape<T>& tape, const Batch& batch) const;

  void members(Members<T>& members) override;

  Embedding<T> letter_embedding, phone_embedding;
  PositionalEncoding<T> position;
  TransformerEncoder<T> encoder;
  TransformerDecoder<T> decoder;
  Linear<T> output;
};

// The cross entropy of a batch's labels.
template <class T>
Var<T> loss(const Pronouncer<T>& model, Tape<T>& tape, const Batch& batch, double label_smoothing);

extern template struct Pronouncer<float>;
extern template struct Pronouncer<double>;

}  // namespace weft::pronounce
