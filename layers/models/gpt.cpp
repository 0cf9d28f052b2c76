#include "weft/layers/models/gpt.hpp"

#include <cmath>

#include "weft/autograd/ops/linear.hpp"
#include "layers/internal/checks.hpp"

namespace weft {
namespace {

constexpr double standard_deviation = 0.02;

const GptOptions& checked(const GptOptions& options) {
  check_positive("Gpt: vocabulary_size", options.vocabulary_size);
  check_positive("Gpt: num_hiddens", options.num_hiddens);
  if (!options.rotary) check_positive("Gpt: max_len", options.max_len);
  return options;
}

template <class T>
void initialize(Linear<T>& layer, double deviation, Random& random) {
  layer.weight.set_value(random.normal_tensor<T>(layer.weight.shape(), 0.0, deviation));
  if (layer.bias) layer.bias->set_value(Tensor<T>(layer.bias->shape()));
}

// GPT-2's initialization of a block, whose last layers before a residual connection have the
// standard deviation `residual`.
template <class T>
void initialize(TransformerEncoderBlock<T>& block, double residual, Random& random) {
  MultiHeadAttention<T>& attention = block.attention;
  for (Linear<T>* layer : {&attention.W_q, &attention.W_k, &attention.W_v})
    initialize(*layer, standard_deviation, random);
  initialize(attention.W_o, residual, random);
  if (auto* ffn = std::get_if<PositionWiseFeedForward<T>>(&block.ffn.layer)) {
    initialize(ffn->dense1, standard_deviation, random);
    initialize(ffn->dense2, residual, random);
  } else if (auto* gated = std::get_if<SwiGLU<T>>(&block.ffn.layer)) {
    initialize(gated->w1, standard_deviation, random);
    initialize(gated->w3, standard_deviation, random);
    initialize(gated->w2, residual, random);
  }
}

}  // namespace

TransformerOptions GptOptions::transformer() const {
  return {.num_blocks = num_blocks,
          .block = {.num_hiddens = num_hiddens,
                    .ffn_num_hiddens = ffn_num_hiddens.value_or(4 * num_hiddens),
                    .num_heads = num_heads,
                    .dropout = dropout,
                    .activation = activation,
                    .norm_first = true,
                    .attention_bias = bias,
                    .rotary = rotary,
                    .num_kv_heads = num_kv_heads,
                    .swiglu = swiglu,
                    .ffn_bias = bias,
                    .norm = norm,
                    .norm_eps = norm_eps,
                    .norm_bias = bias},
          .recompute = recompute};
}

template <class T>
Gpt<T>::Gpt(const GptOptions& options, Random& random)
    : tokens({.num_embeddings = checked(options).vocabulary_size,
              .embedding_dim = options.num_hiddens,
              .standard_deviation = standard_deviation},
             random),
      dropout(options.dropout),
      blocks(options.transformer(), random) {
  if (!options.rotary)
    positions.emplace(LearnedPositionalEncodingOptions{.num_hiddens = options.num_hiddens,
                                                       .max_len = options.max_len,
                                                       .standard_deviation = standard_deviation},
                      random);
  const double residual =
      standard_deviation / std::sqrt(2.0 * static_cast<double>(options.num_blocks));
  for (TransformerEncoderBlock<T>& block : blocks.blocks) initialize(block, residual, random);
  if (!options.tied) {
    output.emplace(LinearOptions{.in_features = options.num_hiddens,
                                 .out_features = options.vocabulary_size,
                                 .bias = false},
                   random);
    initialize(*output, standard_deviation, random);
  }
}

template <class T>
Var<T> Gpt<T>::operator()(Tape<T>& tape, const Tokens& input, AttentionWeights<T>* weights) const {
  if (input.rank() != 2) fail<ShapeError>("Gpt: tokens", "shape [batch, time]", input.shape());
  Var<T> x = tokens(tape, input);
  if (positions) x = (*positions)(x);
  const Var<T> y = blocks(dropout(x), {.causal = true}, weights);
  return output ? (*output)(y) : linear(y, tape.parameter(tokens.weight));
}

template <class T>
void Gpt<T>::members(Members<T>& members) {
  members.type("Gpt");
  members("tokens", tokens);
  members("positions", positions);
  members("dropout", dropout);
  members("blocks", blocks);
  members("output", output);
  if (!output) members("output.weight", tokens.weight);
}

template struct Gpt<float>;
template struct Gpt<double>;

}  // namespace weft
