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
  Index source_vocabulary_size = 0;  // the size of the source vocabulary
  Index target_vocabulary_size = 0;  // the size of the target vocabulary
  // The maximum number of source tokens, and of target tokens including <eos>. A model with a
  // position bias accepts any length; max_len then limits only beam_search and greedy_search.
  Index max_len = 64;
  // Options of the encoder and the decoder; `dropout` also applies to the embeddings. A position
  // bias replaces the sinusoids.
  TransformerOptions transformer = {};
  // The number of decoder blocks; as many as in the encoder if not set.
  std::optional<Index> num_decoder_blocks = {};
  // Whether source and target, which must have equal vocabulary sizes, share one embedding.
  bool shared_embedding = false;
  // Whether the output layer uses the weight of the target embedding, without a bias.
  bool tied = false;
  bool output_bias = true;  // whether an output layer has a bias if it is not tied
  // Whether the states are divided by √num_hiddens before the output layer, as in T5.
  bool scales_output = false;

  // Calls visit(name, value) for each field of `self`, which may be const.
  template <class Self, class Visit>
  static void for_each_field(Self& self, const Visit& visit) {
    visit("source_vocabulary_size", self.source_vocabulary_size);
    visit("target_vocabulary_size", self.target_vocabulary_size);
    visit("max_len", self.max_len);
    visit("transformer", self.transformer);
    visit("num_decoder_blocks", self.num_decoder_blocks);
    visit("shared_embedding", self.shared_embedding);
    visit("tied", self.tied);
    visit("output_bias", self.output_bias);
    visit("scales_output", self.scales_output);
  }

  friend bool operator==(const EncoderDecoderOptions&, const EncoderDecoderOptions&) = default;
};

// A transformer encoder and decoder, with token embeddings and sinusoidal position encodings
// (Vaswani et al., 2017):
//   y = output(decode(target, encode(source)))
// Unlike in the paper, embeddings are not multiplied by √num_hiddens. With a position bias, RMSNorm
// before each layer, unscaled dot products, no biases, and a shared embedding, it has the
// architecture of T5 (Raffel et al., 2020).
//   EncoderDecoder model({.source_vocabulary_size = 100, .target_vocabulary_size = 120,
//                         .transformer = {.num_hiddens = 8, .ffn_num_hiddens = 32}}, random);
//   Var logits = model(tape, source, ValidLens{7, 4}, targets);  // [2, 7] and [2, 5]: [2, 5, 120]
template <class T = float>
struct WEFT_API EncoderDecoder : Module<T> {
  // Throws ValueError for sizes that are not > 0, for options that a block rejects, and for a
  // shared embedding if the vocabulary sizes differ.
  EncoderDecoder(const EncoderDecoderOptions& model_options, Random& random);

  // Encodes source [batch, time], with lengths `source_lens` [batch] if padded. Returns [batch,
  // time, num_hiddens]. Throws ShapeError, and ValueError for a token outside the vocabulary, for
  // invalid lengths, and, without a position bias, if time > max_len + 1 (one more for <bos>).
  Var<T> encode(Tape<T>& tape, const Tokens& source, const ValidLens& source_lens = {}) const;
  // Decodes target [batch, time], whose rows start with <bos>, given memory [batch, source_time,
  // num_hiddens]. Returns [batch, time, num_hiddens], which `logits` maps to the logits of the next
  // tokens. Throws the same exceptions as `encode`.
  Var<T> decode(const Tokens& target, const Var<T>& memory,
                const ValidLens& source_lens = {}) const;
  // Prepares decoding step by step: computes everything that depends only on memory [batch,
  // source_time, num_hiddens], with lengths `source_lens` [batch] if padded. Throws the same
  // exceptions as `decode`, and Error for a tape that records.
  DecoderCache<T> start(const Var<T>& memory, const ValidLens& source_lens = {}) const;
  // Computes `decode` step by step. target [sequences of the cache, time] contains the tokens that
  // follow those in the cache, and is appended to it. Returns [sequences, time, num_hiddens].
  // Throws the same exceptions as `decode`, and Error for a tape that records.
  Var<T> extend(Tape<T>& tape, const Tokens& target, DecoderCache<T>& cache) const;
  // Maps states [batch, time, num_hiddens] to logits [batch, time, target_vocabulary_size].
  Var<T> logits(const Var<T>& states) const;
  // Returns the logits of the token after each position of target [batch, time], given source
  // [batch, source_time]: [batch, time, target_vocabulary_size]. Logits do not depend on later
  // positions, and therefore not on padding at the end of the target. Throws the same exceptions as
  // `encode`.
  Var<T> operator()(Tape<T>& tape, const Tokens& source, const ValidLens& source_lens,
                    const Tokens& target) const;

  void members(Members<T>& members) const override;
  // Returns "EncoderDecoder" and the options.
  std::optional<ModelDescription> description() const override;

  EncoderDecoderOptions options;                  // the options of the model
  Embedding<T> source_embedding;                  // embeds source tokens
  std::optional<Embedding<T>> target_embedding;   // embeds target tokens; not set if shared
  std::optional<PositionalEncoding<T>> position;  // not set with a position bias
  Dropout<T> dropout;               // applied to the embeddings if there are no sinusoids
  TransformerEncoder<T> encoder;    // encodes the source
  TransformerDecoder<T> decoder;    // decodes the target
  std::optional<Linear<T>> output;  // maps to logits; not set if tied

 private:
  const Embedding<T>& target_tokens() const {
    return target_embedding ? *target_embedding : source_embedding;
  }
};

extern template struct EncoderDecoder<float>;
extern template struct EncoderDecoder<double>;

}  // namespace weft
