// EncoderClassifier: a transformer that classifies sequences of tokens.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/layers/embedding.hpp"
#include "weft/layers/linear.hpp"
#include "weft/layers/one_of.hpp"
#include "weft/layers/positional_encoding.hpp"
#include "weft/layers/sequence_pooling.hpp"
#include "weft/layers/transformer_encoder.hpp"

namespace weft {

struct EncoderClassifierOptions {
  // The number of tokens in the vocabulary.
  Index vocabulary_size = 0;
  Index num_classes = 0;  // the number of classes, > 0
  // The maximum sequence length.
  Index max_len = 512;
  // Whether position embeddings are learned; otherwise they are sinusoids.
  bool learned_positions = false;
  // How to reduce a sequence to one vector; Pooling::first takes the vector of BERT's [CLS].
  Pooling pooling = Pooling::mean;
  // Options of the encoder; `dropout` also applies to the embeddings.
  TransformerOptions transformer = {};

  // Calls visit(name, value) for each field of `self`, which may be const, and visit(name, value,
  // names) for each enumeration.
  template <class Self, class Visit>
  static void for_each_field(Self& self, const Visit& visit) {
    visit("vocabulary_size", self.vocabulary_size);
    visit("num_classes", self.num_classes);
    visit("max_len", self.max_len);
    visit("learned_positions", self.learned_positions);
    visit("pooling", self.pooling, pooling_names);
    visit("transformer", self.transformer);
  }

  friend bool operator==(const EncoderClassifierOptions&,
                         const EncoderClassifierOptions&) = default;
};

// A classifier of sequences: embeddings of tokens and positions, a transformer encoder (Vaswani et
// al., 2017), a pooling that reduces each sequence to one vector, and a linear map to logits:
//   y = output(pooling(encoder(position(embedding(tokens)))))
// With Pooling::first and a [CLS] token, it has the architecture of BERT's classifiers.
//   EncoderClassifier model({.vocabulary_size = 100, .num_classes = 3,
//                            .transformer = {.num_hiddens = 8, .ffn_num_hiddens = 32}}, random);
//   Var logits = model(tape, tokens, ValidLens{5, 3});  // tokens [2, 5], logits [2, 3]
template <class T = float>
struct WEFT_API EncoderClassifier : Module<T> {
  // Throws ValueError for sizes that are not > 0, and for options that the encoder rejects.
  EncoderClassifier(const EncoderClassifierOptions& model_options, Random& random);

  // Maps tokens [batch, time], with lengths `valid_lens` [batch] if padded, to logits [batch,
  // num_classes], which do not depend on the padding. Throws ShapeError, and ValueError for a token
  // outside the vocabulary, if time > max_len, and unless 0 ≤ valid_lens ≤ time.
  Var<T> operator()(Tape<T>& tape, const Tokens& tokens, const ValidLens& valid_lens = {}) const;

  void members(Members<T>& members) const override;
  // Returns "EncoderClassifier" and the options.
  std::optional<ModelDescription> description() const override;

  EncoderClassifierOptions options;                                  // the options of the model
  Embedding<T> embedding;                                            // embeds tokens
  OneOf<T, PositionalEncoding, LearnedPositionalEncoding> position;  // encodes positions
  TransformerEncoder<T> encoder;                                     // encodes sequences
  SequencePooling<T> pooling;                                        // pools their states
  Linear<T> output;                                                  // maps to logits
};

extern template struct EncoderClassifier<float>;
extern template struct EncoderClassifier<double>;

}  // namespace weft
