// Gpt: a causal language model: pre-norm, GELU, output weights tied to the token embedding (Radford
// et al., 2019).
#pragma once

#include <weft/layers.hpp>

namespace weft::benchmarks {

struct GptOptions {
  Index vocabulary = 0, context = 0, layers = 0, heads = 0, width = 0;
};

struct Gpt : Module<float> {
  Gpt(const GptOptions& options, Random& random)
      : tokens({.num_embeddings = options.vocabulary,
                .embedding_dim = options.width,
                .standard_deviation = 0.02},
               random),
        positions({.num_embeddings = options.context,
                   .embedding_dim = options.width,
                   .standard_deviation = 0.02},
                  random),
        blocks({.num_blocks = options.layers,
                .block = {.num_hiddens = options.width,
                          .ffn_num_hiddens = 4 * options.width,
                          .num_heads = options.heads,
                          .activation = Activation::gelu_tanh,
                          .norm_first = true,
                          .attention_bias = true}},
               random) {}

  // input [batch, time], position_ids [time] with the values 0 … time - 1; result [batch, time,
  // vocabulary].
  Var<float> operator()(Tape<float>& tape, const Tokens& input, const Tokens& position_ids) const {
    const Var<float> x = tokens(tape, input) + positions(tape, position_ids);
    return linear(blocks(x, {.causal = true}), tape.parameter(tokens.weight));
  }

  void members(Members<float>& members) override {
    members.type("Gpt");
    members("tokens", tokens);
    members("positions", positions);
    members("blocks", blocks);
  }

  Embedding<float> tokens, positions;
  TransformerEncoder<float> blocks;
};

}  // namespace weft::benchmarks
