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

// Options of Gpt. The defaults are those of GPT-2.
struct WEFT_API GptOptions {
  // The number of tokens in the vocabulary.
  Index vocabulary_size = 0;
  // The maximum sequence length; ignored with `rotary` or `alibi`.
  Index max_len = 1024;
  Index num_hiddens = 0;  // the size of the vectors
  Index num_heads = 1;    // the number of heads in each block
  // The size of each head; num_hiddens / num_heads if not set.
  std::optional<Index> head_size = {};
  Index num_blocks = 1;  // the number of blocks, > 0
  // The hidden size of the feed-forward networks; 4 · num_hiddens if not set.
  std::optional<Index> ffn_num_hiddens = {};
  // The probability of dropping an element of the embeddings; also the dropout of the blocks (see
  // TransformerOptions).
  double dropout = 0.0;
  bool bias = true;                                // whether linear layers and norms have a bias
  std::optional<bool> qkv_bias = {};               // overrides `bias` for W_q, W_k and W_v
  std::optional<bool> attention_output_bias = {};  // overrides `bias` for W_o
  std::optional<bool> ffn_bias = {};               // overrides `bias` for feed-forward networks
  // Whether the output layer uses the weight of the token embedding.
  bool tied = true;
  Activation activation = Activation::gelu_tanh;  // the activation in the feed-forward networks
  // If set, rotary position embeddings replace learned positions.
  std::optional<RotaryOptions> rotary = {};
  // Whether ALiBi replaces learned positions; see RelativePositionBiasOptions.
  bool alibi = false;
  bool embedding_norm = false;             // whether a norm follows the embeddings
  Norm norm = Norm::layer_norm;            // see TransformerOptions
  double norm_eps = 1e-5;                  // see TransformerOptions
  bool swiglu = false;                     // see TransformerOptions
  std::optional<Index> num_kv_heads = {};  // see TransformerOptions
  // Whether an RMSNorm is applied to the queries and keys of each head.
  bool qk_norm = false;
  std::optional<Index> window = {};  // see TransformerOptions
  bool parallel_residual = false;    // see TransformerOptions
  // Whether the initial weights are zeros in the last layer before each residual connection, and in
  // the output layer unless it is tied.
  bool zero_init = false;
  // Whether training recomputes each block in backward; see TransformerOptions.
  bool recompute = false;

  // Returns whether the model has learned position embeddings.
  bool has_learned_positions() const { return !rotary && !alibi; }
  // Returns the options of the model's blocks.
  TransformerOptions transformer() const;

  // Calls visit(name, value) for each field of `self`, which may be const, and visit(name, value,
  // names) for each enumeration.
  template <class Self, class Visit>
  static void for_each_field(Self& self, const Visit& visit) {
    visit("vocabulary_size", self.vocabulary_size);
    visit("max_len", self.max_len);
    visit("num_hiddens", self.num_hiddens);
    visit("num_heads", self.num_heads);
    visit("head_size", self.head_size);
    visit("num_blocks", self.num_blocks);
    visit("ffn_num_hiddens", self.ffn_num_hiddens);
    visit("dropout", self.dropout);
    visit("bias", self.bias);
    visit("qkv_bias", self.qkv_bias);
    visit("attention_output_bias", self.attention_output_bias);
    visit("ffn_bias", self.ffn_bias);
    visit("tied", self.tied);
    visit("activation", self.activation, activation_names);
    visit("rotary", self.rotary);
    visit("alibi", self.alibi);
    visit("embedding_norm", self.embedding_norm);
    visit("norm", self.norm, norm_names);
    visit("norm_eps", self.norm_eps);
    visit("swiglu", self.swiglu);
    visit("num_kv_heads", self.num_kv_heads);
    visit("qk_norm", self.qk_norm);
    visit("window", self.window);
    visit("parallel_residual", self.parallel_residual);
    visit("zero_init", self.zero_init);
    visit("recompute", self.recompute);
  }

  friend bool operator==(const GptOptions&, const GptOptions&) = default;
};

// A decoder-only language model (Radford et al., 2019): embeddings of tokens and positions,
// pre-norm blocks with causal self-attention, a norm, and a linear map to logits:
//   y = output(norm(blocks(dropout(token_i + position_i))))
// Parameters are initialized as in GPT-2: weights from a normal distribution with standard
// deviation 0.02, or 0.02 / √(2 · num_blocks) in the last layer before each residual connection,
// and biases with zeros (see also GptOptions::zero_init). With rotary positions, RMSNorm, SwiGLU,
// grouped-query attention and no biases, it has the architecture of Llama (Touvron et al., 2023).
//   Gpt gpt({.vocabulary_size = 100, .num_hiddens = 8, .num_heads = 2, .num_blocks = 2}, random);
//   Var logits = gpt(tape, tokens);  // tokens [2, 5], logits [2, 5, 100]
template <class T = float>
struct WEFT_API Gpt : Module<T> {
  // Throws ValueError for sizes that are not > 0, and for options that a block rejects.
  Gpt(const GptOptions& gpt_options, Random& random);

  // Returns the logits of the token after each position of tokens [batch, time]: [batch, time,
  // vocabulary_size]. Logits depend only on tokens up to their position. Attention is always
  // causal; `mask` restricts it further. If Mask::positions is set, its elements, which must
  // be < max_len, are the learned positions, and rows may be longer than max_len. Throws
  // ShapeError, and ValueError for a token outside the vocabulary and if time > max_len.
  Var<T> operator()(Tape<T>& tape, const Tokens& tokens, Mask mask = {}) const;
  // Returns the mean cross entropy, [], of targets [batch, time], the tokens after each position.
  // Targets equal to CrossEntropyOptions::ignore_index do not count. The result equals the cross
  // entropy of operator()'s logits, but only the logits of few targets are stored at a time; all
  // logits would take most of the memory of a pass (see `linear_cross_entropy`). If the output
  // layer has an adapter or a bias, all logits are stored. Throws the same exceptions as operator()
  // and `cross_entropy`.
  Var<T> loss(Tape<T>& tape, const Tokens& tokens, const Tokens& targets, Mask mask = {}) const;

  // Computes the model step by step. tokens [sequences of the cache, time] follow those in the
  // cache, and are appended to it. Returns their states [sequences, time, num_hiddens], which
  // `logits` maps to logits. Throws the same exceptions as operator(), and Error for a tape that
  // records.
  Var<T> extend(Tape<T>& tape, const Tokens& tokens, KeyValueCache<T>& cache) const;
  // Maps states [..., num_hiddens], the result of `extend`, to the logits [..., vocabulary_size] of
  // the next tokens. Throws ShapeError.
  Var<T> logits(const Var<T>& states) const;
  // Returns a cache of `num_sequences` empty sequences. See KeyValueCacheOptions for `capacity`.
  KeyValueCache<T> make_cache(Index num_sequences, Index capacity = 16) const {
    return blocks.make_cache(num_sequences, capacity);
  }

  // If the output layer is tied, makes it a layer of its own with the weight of the token
  // embedding, and sets GptOptions::tied to false. An adapter can then be added to the layer
  // "output" alone (see `add_lora`).
  void untie();

  void members(Members<T>& members) const override;
  // Returns "Gpt" and the options.
  std::optional<ModelDescription> description() const override;

  GptOptions options;                                     // the options of the model
  Embedding<T> tokens;                                    // the token embedding
  std::optional<LearnedPositionalEncoding<T>> positions;  // not set with `rotary` or `alibi`
  std::optional<BlockNorm<T>> norm;                       // set with embedding_norm
  Dropout<T> dropout;                                     // applied to the embeddings
  TransformerEncoder<T> blocks;  // the blocks, pre-norm, with their final norm
  // The output layer. Not set if tied: then "output.weight" is another name of "tokens.weight".
  std::optional<Linear<T>> output;

 private:
  // Returns the input of `logits`, [batch, time, num_hiddens].
  Var<T> states(Tape<T>& tape, const Tokens& tokens, Mask mask) const;
};

extern template struct Gpt<float>;
extern template struct Gpt<double>;

}  // namespace weft
