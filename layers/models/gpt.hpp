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
  // The maximum sequence length; ignored with `rotary`.
  Index max_len = 1024;
  Index num_hiddens = 0;
  Index num_heads = 1;
  // The size of each head; num_hiddens / num_heads when not given.
  std::optional<Index> head_size = {};
  Index num_blocks = 1;
  // The hidden size of the feed-forward networks; 4 · num_hiddens when not given.
  std::optional<Index> ffn_num_hiddens = {};
  // The probability of dropping an element of the embeddings, and what it is in a block.
  double dropout = 0.0;
  // Whether linear layers and layer norms have a bias, and when other than these: W_q, W_k and W_v;
  // W_o; and the feed-forward networks.
  bool bias = true;
  std::optional<bool> qkv_bias = {};
  std::optional<bool> attention_output_bias = {};
  std::optional<bool> ffn_bias = {};
  // Whether the output layer uses the weight of the token embedding.
  bool tied = true;
  Activation activation = Activation::gelu_tanh;
  // Rotary positions, instead of learned ones; see TransformerOptions for the others.
  std::optional<RotaryOptions> rotary = {};
  Norm norm = Norm::layer_norm;
  double norm_eps = 1e-5;
  bool swiglu = false;
  std::optional<Index> num_kv_heads = {};
  // Whether each head's queries and keys have an RMSNorm.
  bool qk_norm = false;
  std::optional<Index> window = {};
  bool parallel_residual = false;
  // Whether training recomputes each block in backward; see TransformerOptions.
  bool recompute = false;

  // Returns the options of the blocks.
  TransformerOptions transformer() const;
};

// Embeddings of tokens and positions, pre-norm blocks with causal self-attention, a norm, and a
// linear map to logits (Radford et al., 2019). Initialized as GPT-2: weights from a normal
// distribution of standard deviation 0.02, those of each block's last layer before a residual
// connection of 0.02 / √(2 · num_blocks), biases zero. With rotary positions, RMSNorm, SwiGLU,
// grouped-query heads and no biases it has the form of Llama (Touvron et al., 2023).
template <class T = float>
struct WEFT_API Gpt : Module<T> {
  // Throws ValueError for sizes that are not > 0 and for options that a block rejects.
  Gpt(const GptOptions& options, Random& random);

  // tokens [batch, time]; result [batch, time, vocabulary_size], the logits of the token after each
  // position, which depend on tokens up to that position only. Throws ShapeError, and ValueError
  // for a token that is not in the vocabulary and for time > max_len. `mask` further restricts the
  // positions that each one attends to; it is causal, too.
  Var<T> operator()(Tape<T>& tape, const Tokens& tokens, Mask mask = {}) const;
  // The states that these are the `logits` of, [batch, time, num_hiddens], for logits of some
  // positions only. Throws as the call does.
  Var<T> states(Tape<T>& tape, const Tokens& tokens, Mask mask = {}) const;

  // The same step by step: `extend` takes the tokens [sequences of the cache, time] that follow
  // those in the cache, which are then in it, too, and returns their states [sequences, time,
  // num_hiddens]; `logits` maps states to the logits of the tokens after them. Throw as the call
  // above, and Error for a tape that records.
  Var<T> extend(Tape<T>& tape, const Tokens& tokens, KeyValueCache<T>& cache) const;
  Var<T> logits(const Var<T>& states) const;
  // A cache for `num_sequences` sequences; see KeyValueCacheOptions for the capacity.
  KeyValueCache<T> make_cache(Index num_sequences, Index capacity = 16) const {
    return blocks.make_cache(num_sequences, capacity);
  }

  void members(Members<T>& members) const override;

  Embedding<T> tokens;
  std::optional<LearnedPositionalEncoding<T>> positions;  // none with rotary positions
  Dropout<T> dropout;
  TransformerEncoder<T> blocks;
  std::optional<Linear<T>> output;  // none when tied: "output.weight" is then "tokens.weight"
};

extern template struct Gpt<float>;
extern template struct Gpt<double>;

}  // namespace weft
