// EncoderDecoder: a sequence-to-sequence transformer.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/layers/embedding.hpp"
#include "weft/layers/linear.hpp"
#include "weft/layers/positional_encoding.hpp"
#include "weft/layers/transformer_decoder.hpp"
#include "weft/layers/transformer_encoder.hpp"

namespace weft {

struct EncoderDecoderOptions {
  Index source_vocabulary_size = 0;  // the number of source tokens
  Index target_vocabulary_size = 0;  // the number of target tokens
  // The maximum number of source tokens, and of target tokens including <eos>. With a position
  // bias, the model has no limit, and this is only that of searches.
  Index max_len = 64;
  // Its dropout also applies to the embeddings. With a position bias there are no sinusoids.
  TransformerOptions transformer = {};
  // The number of blocks of the decoder, when other than that of the encoder.
  std::optional<Index> num_decoder_blocks = {};
  // Whether source and target tokens, then of one vocabulary, have one embedding.
  bool shared_embedding = false;
  // Whether the output layer uses the weight of the target embedding, without a bias.
  bool tied = false;
  bool output_bias = true;  // whether an output layer that is not tied has a bias
  // Whether the states are divided by √num_hiddens before the output layer, as in T5.
  bool scales_output = false;

  friend bool operator==(const EncoderDecoderOptions&, const EncoderDecoderOptions&) = default;
};

// A transformer encoder and decoder, with embeddings of tokens and sinusoids for positions (Vaswani
// et al., 2017):
//   y = output(decode(target, encode(source)))
// Embeddings are not multiplied by √num_hiddens, unlike there. With a position bias, RMSNorm before
// each layer, dot products that are not scaled, no biases, and one embedding it has the form of T5
// (Raffel et al., 2020).
//   EncoderDecoder model({.source_vocabulary_size = 100, .target_vocabulary_size = 120,
//                         .transformer = {.num_hiddens = 8, .ffn_num_hiddens = 32}}, random);
//   Var logits = model(tape, source, ValidLens{7, 4}, targets);  // [2, 7] and [2, 5]: [2, 5, 120]
template <class T = float>
struct WEFT_API EncoderDecoder : Module<T> {
  // Throws ValueError for sizes that are not > 0, invalid transformer options, and a shared
  // embedding of two vocabularies.
  EncoderDecoder(const EncoderDecoderOptions& options, Random& random);

  // source [batch, time] with lengths `source_lens` [batch] when padded; result [batch, time,
  // num_hiddens]. Throws ShapeError, and ValueError for a token that is not in the vocabulary,
  // invalid lengths, and sequences longer than max_len (by more than <bos>).
  Var<T> encode(Tape<T>& tape, const Tokens& source, const ValidLens& source_lens = {}) const;
  // target [batch, time], each row starting with <bos>; memory [batch, source time, num_hiddens].
  // Result [batch, time, num_hiddens]; `logits` maps it to the logits of the next tokens. Throws as
  // `encode` does.
  Var<T> decode(const Tokens& target, const Var<T>& memory,
                const ValidLens& source_lens = {}) const;
  // For `decode` step by step: computes what depends on the memory [batch, source time,
  // num_hiddens] only. Throws as `decode`, and Error for a tape that records.
  DecoderCache<T> start(const Var<T>& memory, const ValidLens& source_lens = {}) const;
  // The results of `decode`, [sequences, time, num_hiddens], of the tokens [sequences of the cache,
  // time] that follow those in the cache, which are then in it, too. Throws as `decode`, and Error
  // for a tape that records.
  Var<T> extend(Tape<T>& tape, const Tokens& target, DecoderCache<T>& cache) const;
  // The logits [batch, time, target_vocabulary_size] of states [batch, time, num_hiddens].
  Var<T> logits(const Var<T>& states) const;
  // The logits of the token after each position of target [batch, time], given source [batch,
  // source time]: [batch, time, target_vocabulary_size]. They do not depend on later positions, so
  // neither on padding at the end of the target. Throws as `encode` does.
  Var<T> operator()(Tape<T>& tape, const Tokens& source, const ValidLens& source_lens,
                    const Tokens& target) const;

  void members(Members<T>& members) const override;

  Embedding<T> source_embedding;                  // of the source tokens
  std::optional<Embedding<T>> target_embedding;   // none when shared
  std::optional<PositionalEncoding<T>> position;  // of both; none with a position bias
  Dropout<T> dropout;                             // of embeddings without sinusoids
  TransformerEncoder<T> encoder;                  // of the source
  TransformerDecoder<T> decoder;                  // of the target
  std::optional<Linear<T>> output;                // to the logits; none when tied
  Index max_len;                                  // see EncoderDecoderOptions
  bool scales_output;                             // see EncoderDecoderOptions

 private:
  const Embedding<T>& target_tokens() const {
    return target_embedding ? *target_embedding : source_embedding;
  }
};

extern template struct EncoderDecoder<float>;
extern template struct EncoderDecoder<double>;

}  // namespace weft
