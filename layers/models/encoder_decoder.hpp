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
  // The numbers of source and target tokens.
  Index source_vocabulary_size = 0;
  Index target_vocabulary_size = 0;
  // The maximum number of source tokens, and of target tokens including <eos>.
  Index max_len = 64;
  // Its dropout also applies to the embeddings.
  TransformerOptions transformer = {};
};

// A transformer encoder and decoder, with embeddings of tokens and sinusoids for positions (Vaswani
// et al., 2017).
template <class T = float>
struct WEFT_API EncoderDecoder : Module<T> {
  // Throws ValueError for sizes that are not > 0 and invalid transformer options.
  EncoderDecoder(const EncoderDecoderOptions& options, Random& random);

  // source [batch, time] with lengths `source_lens` [batch] when padded; result [batch, time,
  // num_hiddens]. These functions throw ShapeError, and ValueError for a token that is not in the
  // vocabulary, invalid lengths, and sequences longer than max_len (by more than <bos>).
  Var<T> encode(Tape<T>& tape, const Tokens& source, const ValidLens& source_lens = {}) const;
  // target [batch, time], each row starting with <bos>; memory [batch, source time, num_hiddens].
  // Result [batch, time, num_hiddens]; `output` maps it to the logits of the next tokens.
  Var<T> decode(const Tokens& target, const Var<T>& memory,
                const ValidLens& source_lens = {}) const;
  // The same step by step: `start` computes what depends on the memory only, and `extend` takes the
  // tokens [sequences of the cache, time] that follow those in the cache, which are then in it,
  // too, and returns their result of `decode`. Throw Error for a tape that records.
  DecoderCache<T> start(const Var<T>& memory, const ValidLens& source_lens = {}) const;
  Var<T> extend(Tape<T>& tape, const Tokens& target, DecoderCache<T>& cache) const;
  // The logits of the token after each position of the target, [batch, time,
  // target_vocabulary_size]. They do not depend on later positions, so neither on padding at the
  // end of the target.
  Var<T> operator()(Tape<T>& tape, const Tokens& source, const ValidLens& source_lens,
                    const Tokens& target) const;

  void members(Members<T>& members) const override;

  Embedding<T> source_embedding, target_embedding;
  PositionalEncoding<T> position;
  TransformerEncoder<T> encoder;
  TransformerDecoder<T> decoder;
  Linear<T> output;
  Index max_len;
};

extern template struct EncoderDecoder<float>;
extern template struct EncoderDecoder<double>;

}  // namespace weft
