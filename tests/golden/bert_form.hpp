// BertForm: the layers of BERT.
#pragma once

#include <weft/autograd/ops/indexing.hpp>
#include <weft/layers/embedding.hpp>
#include <weft/layers/layer_norm.hpp>
#include <weft/layers/learned_positional_encoding.hpp>
#include <weft/layers/linear.hpp>
#include <weft/layers/transformer_encoder.hpp>

namespace weft {

struct BertFormOptions {
  Index vocabulary_size, max_len, num_hiddens, ffn_num_hiddens, num_heads, num_blocks;
  bool pooler = false;

  TransformerOptions transformer() const {
    return {.num_blocks = num_blocks,
            .block = {.num_hiddens = num_hiddens,
                      .ffn_num_hiddens = ffn_num_hiddens,
                      .num_heads = num_heads,
                      .activation = Activation::gelu,
                      .attention_bias = true,
                      .norm_eps = 1e-12}};
  }
};

template <class T>
struct BertForm : Module<T> {
  explicit BertForm(const BertFormOptions& options, Random random = Random(1))
      : tokens({.num_embeddings = options.vocabulary_size, .embedding_dim = options.num_hiddens},
               random),
        positions({.num_hiddens = options.num_hiddens, .max_len = options.max_len}, random),
        segments({.num_embeddings = 2, .embedding_dim = options.num_hiddens}, random),
        norm({.num_hiddens = options.num_hiddens, .eps = 1e-12}),
        blocks(options.transformer(), random) {
    if (options.pooler)
      pooler.emplace(LinearOptions{options.num_hiddens, options.num_hiddens}, random);
  }

  // The states [batch, time, num_hiddens].
  Var<T> operator()(Tape<T>& tape, const Tokens& ids, const Tokens& segment_ids) const {
    return blocks(norm(positions(tokens(tape, ids)) + segments(tape, segment_ids)));
  }
  Var<T> pooled(const Var<T>& states) const {
    return (*pooler)(select(states, 1, 0), Activation::tanh);
  }

  void members(Members<T>& members) override {
    members.type("BertForm");
    members("tokens", tokens);
    members("positions", positions);
    members("segments", segments);
    members("norm", norm);
    members("blocks", blocks);
    members("pooler", pooler);
  }

  Embedding<T> tokens;
  LearnedPositionalEncoding<T> positions;
  Embedding<T> segments;
  LayerNorm<T> norm;
  TransformerEncoder<T> blocks;
  std::optional<Linear<T>> pooler;
};

}  // namespace weft
