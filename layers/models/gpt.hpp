// Gpt: a decoder-only language model.
#pragma once

#include <optional>

#include "weft/autograd/export.hpp"
#include "weft/layers/dropout.hpp"
#include "weft/layers/embedding.hpp"
#include "weft/layers/linear.hpp"
#include "weft/layers/positional_encoding.hpp"
#include "weft/layers/transformer_encoder.hpp"

namespace weft {

// The defaults are GPT-2's.
struct WEFT_API GptOptions {
  // The number of tokens.
  Index vocabulary_size = 0;
  // The maximum sequence length; ignored with `rotary` and with `alibi`.
  Index max_len = 1024;
  Index num_hiddens = 0;  // the size of the vectors
  Index num_heads = 1;    // of each block
  // The size of each head; num_hiddens / num_heads when not given.
  std::optional<Index> head_size = {};
  Index num_blocks = 1;  // the number of blocks, > 0
  // The hidden size of the feed-forward networks; 4 · num_hiddens when not given.
  std::optional<Index> ffn_num_hiddens = {};
  // The probability of dropping an element of the embeddings, and that of the blocks (see
  // TransformerOptions).
  double dropout = 0.0;
  bool bias = true;                                // whether linear layers and layer norms have one
  std::optional<bool> qkv_bias = {};               // of W_q, W_k and W_v, when it differs
  std::optional<bool> attention_output_bias = {};  // of W_o, when it differs
  std::optional<bool> ffn_bias = {};               // of the feed-forward networks, when it differs
  // Whether the output layer uses the weight of the token embedding.
  bool tied = true;
  Activation activation = Activation::gelu_tanh;  // of the feed-forward networks
  // Rotary positions, instead of learned ones.
  std::optional<RotaryOptions> rotary = {};
  // ALiBi instead of learned positions: see RelativePositionBiasOptions.
  bool alibi = false;
  bool embedding_norm = false;             // whether a norm follows the embeddings
  Norm norm = Norm::layer_norm;            // see TransformerOptions
  double norm_eps = 1e-5;                  // see TransformerOptions
  bool swiglu = false;                     // see TransformerOptions
  std::optional<Index> num_kv_heads = {};  // see TransformerOptions
  // Whether each head's queries and keys have an RMSNorm.
  bool qk_norm = false;
  std::optional<Index> window = {};  // see TransformerOptions
  bool parallel_residual = false;    // see TransformerOptions
  // Whether training recomputes each block in backward; see TransformerOptions.
  bool recompute = false;

  // Whether the model has a table of positions.
  bool has_learned_positions() const { return !rotary && !alibi; }
  // Returns the options of the blocks.
  TransformerOptions transformer() const;

  friend bool operator==(const GptOptions&, const GptOptions&) = default;
};

// Embeddings of tokens and positions, pre-norm blocks with causal self-attention, a norm, and a
// linear map to logits (Radford et al., 2019):
//   y = output(norm(blocks(dropout(token_i + position_i))))
// Initialized as GPT-2: weights from a normal
// distribution of standard deviation 0.02, those of each block's last layer before a residual
// connection of 0.02 / √(2 · num_blocks), biases zero. With rotary positions, RMSNorm, SwiGLU,
// grouped-query heads and no biases it has the form of Llama (Touvron et al., 2023).
//   Gpt gpt({.vocabulary_size = 100, .num_hiddens = 8, .num_heads = 2, .num_blocks = 2}, random);
//   Var logits = gpt(tape, tokens);  // tokens [2, 5], logits [2, 5, 100]
template <class T = float>
struct WEFT_API Gpt : Module<T> {
  // Throws ValueError for sizes that are not > 0 and for options that a block rejects.
  Gpt(const GptOptions& options, Random& random);

  // tokens [batch, time]; result [batch, time, vocabulary_size], the logits of the token after each
  // position, which depend on tokens up to that position only. Throws ShapeError, and ValueError
  // for a token that is not in the vocabulary and for time > max_len. `mask` further restricts the
  // positions that each one attends to; it is causal, too. With Mask::positions, learned positions
  // are those, all < max_len, and rows may be longer.
  Var<T> operator()(Tape<T>& tape, const Tokens& tokens, Mask mask = {}) const;
  // The mean cross entropy of the targets [batch, time], the tokens after each position, of which
  // those of CrossEntropyOptions::ignore_index do not count. The same as by the logits of the call
  // above, which would take most of a pass's memory, but with those of few targets at a time (see
  // `linear_cross_entropy`). Throws as the call and `cross_entropy` do.
  Var<T> loss(Tape<T>& tape, const Tokens& tokens, const Tokens& targets, Mask mask = {}) const;

  // The same step by step: the states [sequences, time, num_hiddens] of the tokens [sequences of
  // the cache, time] that follow those in the cache, which are then in it, too. Throws as the call
  // above, and Error for a tape that records.
  Var<T> extend(Tape<T>& tape, const Tokens& tokens, KeyValueCache<T>& cache) const;
  // The logits [..., vocabulary_size] of the tokens after the states [..., num_hiddens] of
  // `extend`. Throws ShapeError.
  Var<T> logits(const Var<T>& states) const;
  // A cache for `num_sequences` sequences; see KeyValueCacheOptions for the capacity.
  KeyValueCache<T> make_cache(Index num_sequences, Index capacity = 16) const {
    return blocks.make_cache(num_sequences, capacity);
  }

  void members(Members<T>& members) const override;

  Embedding<T> tokens;                                    // of the vocabulary
  std::optional<LearnedPositionalEncoding<T>> positions;  // none with `rotary` or `alibi`
  std::optional<BlockNorm<T>> norm;                       // with embedding_norm
  Dropout<T> dropout;                                     // of the embeddings
  TransformerEncoder<T> blocks;                           // pre-norm, with their final norm
  std::optional<Linear<T>> output;  // none when tied: "output.weight" is then "tokens.weight"

 private:
  // What `logits` maps: [batch, time, num_hiddens].
  Var<T> states(Tape<T>& tape, const Tokens& tokens, Mask mask) const;
};

extern template struct Gpt<float>;
extern template struct Gpt<double>;

}  // namespace weft
