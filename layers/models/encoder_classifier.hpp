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
  // The number of tokens.
  Index vocabulary_size = 0;
  Index num_classes = 0;  // the number of logits, > 0
  // The maximum sequence length.
  Index max_len = 512;
  // Whether the vectors that encode positions are learned, or sinusoids.
  bool learned_positions = false;
  // How the vectors of a sequence become one: the first is that of BERT's [CLS].
  Pooling pooling = Pooling::mean;
  // Its dropout also applies to the embeddings.
  TransformerOptions transformer = {};
};

// Embeddings of tokens and positions, a transformer encoder (Vaswani et al., 2017), one vector for
// each sequence, and a linear map to the logits of the classes:
//   y = output(pooling(encoder(position(embedding(tokens)))))
// With Pooling::first and a [CLS] token it has the form of BERT's classifiers.
//   EncoderClassifier model({.vocabulary_size = 100, .num_classes = 3,
//                            .transformer = {.num_hiddens = 8, .ffn_num_hiddens = 32}}, random);
//   Var logits = model(tape, tokens, ValidLens{5, 3});  // tokens [2, 5], logits [2, 3]
template <class T = float>
struct WEFT_API EncoderClassifier : Module<T> {
  // Throws ValueError for sizes that are not > 0 and for invalid transformer options.
  EncoderClassifier(const EncoderClassifierOptions& options, Random& random);

  // tokens [batch, time], with lengths `valid_lens` [batch] when padded; result
  // [batch, num_classes], which does not depend on the padding. Throws ShapeError, and ValueError
  // for a token that is not in the vocabulary, lengths outside 0 … time, and time > max_len.
  Var<T> operator()(Tape<T>& tape, const Tokens& tokens, const ValidLens& valid_lens = {}) const;

  void members(Members<T>& members) const override;

  Embedding<T> embedding;                                            // of the tokens
  OneOf<T, PositionalEncoding, LearnedPositionalEncoding> position;  // of max_len positions
  TransformerEncoder<T> encoder;                                     // of the sequences
  SequencePooling<T> pooling;                                        // of its results
  Linear<T> output;                                                  // to the logits
};

extern template struct EncoderClassifier<float>;
extern template struct EncoderClassifier<double>;

}  // namespace weft
