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
  // The number of tokens in the vocabulary.
  Index vocabulary_size = 0;
  // The maximum sequence length.
  Index max_len = 512;
  // The row of the first token in the table of positions; 2 in RoBERTa. If > 0, token
  // first_position - 1 is the padding: it always uses row first_position - 1, and does not advance
  // the position.
  Index first_position = 0;
  // The number of segments that a sequence may consist of; 2 for pairs of sentences.
  Index num_segments = 2;
  Index num_hiddens = 0;  // the size of the vectors
  Index num_heads = 1;    // the number of heads in each block
  Index num_blocks = 1;   // the number of blocks, > 0
  // The hidden size of the feed-forward networks; 4 · num_hiddens if not set.
  std::optional<Index> ffn_num_hiddens = {};
  // The probability of dropping an element of the embeddings; also the dropout of the blocks (see
  // TransformerOptions).
  double dropout = 0.0;
  Activation activation = Activation::gelu;  // the activation in the feed-forward networks
  double norm_eps = 1e-12;                   // the eps of all norms (see LayerNormOptions)
  bool pooler = false;                       // whether the model has a pooler (see Bert::pooled)
  // Whether training recomputes each block in backward; see TransformerOptions.
  bool recompute = false;

  // Returns the options of the encoder's blocks.
  TransformerOptions transformer() const;

  // Calls visit(name, value) for each field of `self`, which may be const, and visit(name, value,
  // names) for each enumeration.
  template <class Self, class Visit>
  static void for_each_field(Self& self, const Visit& visit) {
    visit("vocabulary_size", self.vocabulary_size);
    visit("max_len", self.max_len);
    visit("first_position", self.first_position);
    visit("num_segments", self.num_segments);
    visit("num_hiddens", self.num_hiddens);
    visit("num_heads", self.num_heads);
    visit("num_blocks", self.num_blocks);
    visit("ffn_num_hiddens", self.ffn_num_hiddens);
    visit("dropout", self.dropout);
    visit("activation", self.activation, activation_names);
    visit("norm_eps", self.norm_eps);
    visit("pooler", self.pooler);
    visit("recompute", self.recompute);
  }

  friend bool operator==(const BertOptions&, const BertOptions&) = default;
};

// An encoder with self-attention in both directions and post-norm blocks (Devlin et al., 2019).
// Embeddings of tokens, positions and segments are added and normalized:
//   y = blocks(dropout(norm(token_i + position_i + segment_i)))
// Parameters are initialized as in BERT: weights from a normal distribution with standard deviation
// 0.02, biases with zeros. For one vector per sequence, use `pooled` or a SequencePooling.
//   Bert bert({.vocabulary_size = 100, .num_hiddens = 8, .num_heads = 2, .num_blocks = 2}, random);
//   Var y = bert(tape, tokens, ValidLens{5, 3});  // tokens [2, 5], y [2, 5, 8]
template <class T = float>
struct WEFT_API Bert : Module<T> {
  // Throws ValueError for sizes that are not > 0, a negative first_position, and options that a
  // block rejects.
  Bert(const BertOptions& bert_options, Random& random);

  // Encodes tokens [batch, time], with lengths `valid_lens` [batch] if padded; all tokens are in
  // segment 0. Returns [batch, time, num_hiddens]; the vectors of valid positions do not depend on
  // the padding. Throws ShapeError, and ValueError for a token outside the vocabulary, if
  // time > max_len, and unless 0 ≤ valid_lens ≤ time.
  Var<T> operator()(Tape<T>& tape, const Tokens& tokens, const ValidLens& valid_lens = {}) const;
  // Encodes tokens [batch, time] in the given segments [batch, time], with lengths `valid_lens`
  // [batch] if padded. Returns [batch, time, num_hiddens]. Throws the same exceptions as the call
  // without segments, ShapeError if tokens and segments differ in shape, and ValueError unless
  // 0 ≤ segments < num_segments.
  Var<T> operator()(Tape<T>& tape, const Tokens& tokens, const Tokens& segments,
                    const ValidLens& valid_lens = {}) const;

  // Applies the pooler: maps states [batch, time, num_hiddens] to [batch, num_hiddens], the tanh of
  // a linear map of each sequence's first state. Throws ShapeError, and ValueError if the model has
  // no pooler or time is 0.
  Var<T> pooled(const Var<T>& states) const;

  void members(Members<T>& members) const override;
  // Returns "Bert" and the options.
  std::optional<ModelDescription> description() const override;

  BertOptions options;                     // the options of the model
  Embedding<T> tokens;                     // the token embedding
  LearnedPositionalEncoding<T> positions;  // the position embedding, learned
  Embedding<T> segments;                   // the segment embedding
  LayerNorm<T> norm;                       // applied to the sum of the embeddings
  Dropout<T> dropout;                      // applied to the normalized sum
  TransformerEncoder<T> blocks;            // the encoder, post-norm
  std::optional<Linear<T>> pooler;         // the linear map of `pooled`

 private:
  // Returns the states [batch, time, num_hiddens], given the vectors of the segments.
  Var<T> states(const Tokens& tokens, const Var<T>& segment_vectors,
                const ValidLens& valid_lens) const;
};

extern template struct Bert<float>;
extern template struct Bert<double>;

}  // namespace weft
