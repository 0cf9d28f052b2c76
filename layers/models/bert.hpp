// Bert: an encoder of sequences of tokens, such as sentences.
#pragma once

#include <optional>

#include "weft/autograd/export.hpp"
#include "weft/layers/dropout.hpp"
#include "weft/layers/embedding.hpp"
#include "weft/layers/linear.hpp"
#include "weft/layers/norm.hpp"
#include "weft/layers/positional_encoding.hpp"
#include "weft/layers/transformer_encoder.hpp"

namespace weft {

struct WEFT_API BertOptions {
  // The number of tokens.
  Index vocabulary_size = 0;
  // The maximum sequence length.
  Index max_len = 512;
  // The position of the first token in the table of positions. RoBERTa's is 2: its token 1 is
  // padding, which has position 1 wherever it stands and is not counted. So is the token
  // first_position - 1 of any model with first_position > 0.
  Index first_position = 0;
  // The number of segments that a sequence may consist of, as the two sentences of a pair.
  Index num_segments = 2;
  Index num_hiddens = 0;  // the size of the vectors
  Index num_heads = 1;    // of each block
  Index num_blocks = 1;   // the number of blocks, > 0
  // The hidden size of the feed-forward networks; 4 · num_hiddens when not given.
  std::optional<Index> ffn_num_hiddens = {};
  // The probability of dropping an element of the embeddings, and that of the blocks (see
  // TransformerOptions).
  double dropout = 0.0;
  Activation activation = Activation::gelu;  // of the feed-forward networks
  double norm_eps = 1e-12;                   // see LayerNormOptions
  bool pooler = false;                       // whether the model has one
  // Whether training recomputes each block in backward; see TransformerOptions.
  bool recompute = false;

  // Returns the options of the blocks.
  TransformerOptions transformer() const;

  friend bool operator==(const BertOptions&, const BertOptions&) = default;
};

// Embeddings of tokens, positions and segments, their sum normalized, and post-norm blocks with
// self-attention in both directions (Devlin et al., 2019):
//   y = blocks(dropout(norm(token_i + position_i + segment_i)))
// Initialized as BERT: weights from a
// normal distribution of standard deviation 0.02, biases zero. A vector for each sequence is the
// `pooled` one, or that of a SequencePooling.
//   Bert bert({.vocabulary_size = 100, .num_hiddens = 8, .num_heads = 2, .num_blocks = 2}, random);
//   Var y = bert(tape, tokens, ValidLens{5, 3});  // tokens [2, 5], y [2, 5, 8]
template <class T = float>
struct WEFT_API Bert : Module<T> {
  // Throws ValueError for sizes that are not > 0 and for options that a block rejects.
  Bert(const BertOptions& options, Random& random);

  // tokens [batch, time], with lengths `valid_lens` [batch] when padded; result [batch, time,
  // num_hiddens], which before the padding does not depend on it. Throws ShapeError, and ValueError
  // for a token that is not in the vocabulary, lengths outside 0 … time, and time > max_len.
  Var<T> operator()(Tape<T>& tape, const Tokens& tokens, const ValidLens& valid_lens = {}) const;
  // The same with the segment of each token, [batch, time], instead of 0. Throws also ShapeError
  // for another shape and ValueError for a segment that is not 0 … num_segments - 1.
  Var<T> operator()(Tape<T>& tape, const Tokens& tokens, const Tokens& segments,
                    const ValidLens& valid_lens = {}) const;

  // tanh of a linear map of each sequence's first state: states [batch, time, num_hiddens], result
  // [batch, num_hiddens]. Throws ShapeError, and ValueError for a model without a pooler and for
  // time 0.
  Var<T> pooled(const Var<T>& states) const;

  void members(Members<T>& members) const override;

  Embedding<T> tokens;                     // of the vocabulary
  LearnedPositionalEncoding<T> positions;  // of max_len positions
  Embedding<T> segments;                   // of num_segments segments
  LayerNorm<T> norm;                       // of the sum of the embeddings
  Dropout<T> dropout;                      // of the normalized sum
  TransformerEncoder<T> blocks;            // post-norm
  std::optional<Linear<T>> pooler;         // see `pooled`
  Index first_position;                    // see BertOptions

 private:
  // The states [batch, time, num_hiddens], given the vectors of the segments.
  Var<T> states(const Tokens& tokens, const Var<T>& segment_vectors,
                const ValidLens& valid_lens) const;
};

extern template struct Bert<float>;
extern template struct Bert<double>;

}  // namespace weft
