#include "weft/layers/models/gpt.hpp"

#include <cmath>
#include <utility>

#include "weft/autograd/ops/cross_entropy.hpp"
#include "weft/autograd/ops/linear.hpp"
#include "autograd/internal/saturating_product.hpp"
#include "layers/internal/checks.hpp"
#include "layers/internal/normal_weights.hpp"

namespace weft {
namespace {

constexpr double standard_deviation = 0.02;

const GptOptions& checked(const GptOptions& options) {
  check_positive("Gpt: vocabulary_size", options.vocabulary_size);
  check_positive("Gpt: num_hiddens", options.num_hiddens);
  if (options.has_learned_positions()) check_positive("Gpt: max_len", options.max_len);
  return options;
}

LinearOptions output_options(const GptOptions& options) {
  return {
      .in_features = options.num_hiddens, .out_features = options.vocabulary_size, .bias = false};
}

}  // namespace

TransformerOptions GptOptions::transformer() const {
  return {.num_blocks = num_blocks,
          .num_hiddens = num_hiddens,
          .ffn_num_hiddens = ffn_num_hiddens.value_or(saturating_product({4, num_hiddens})),
          .num_heads = num_heads,
          .head_size = head_size,
          .dropout = dropout,
          .activation = activation,
          .norm_first = true,
          .parallel_residual = parallel_residual,
          .attention_bias = qkv_bias.value_or(bias),
          .attention_output_bias = attention_output_bias.value_or(bias),
          .rotary = rotary,
          .qk_norm_eps = qk_norm ? std::optional(norm_eps) : std::nullopt,
          .window = window,
          .num_kv_heads = num_kv_heads,
          .swiglu = swiglu,
          .ffn_bias = ffn_bias.value_or(bias),
          .norm = norm,
          .norm_eps = norm_eps,
          .norm_bias = bias,
          .recompute = recompute,
          .position_bias =
              alibi ? std::optional(RelativePositionBiasOptions{.alibi = true}) : std::nullopt};
}

template <class T>
Gpt<T>::Gpt(const GptOptions& gpt_options, Random& random)
    : options(checked(gpt_options)),
      tokens({.num_embeddings = options.vocabulary_size,
              .embedding_dim = options.num_hiddens,
              .standard_deviation = standard_deviation},
             random),
      dropout(options.dropout),
      blocks(options.transformer(), random) {
  if (options.has_learned_positions())
    positions.emplace(LearnedPositionalEncodingOptions{.num_hiddens = options.num_hiddens,
                                                       .max_len = options.max_len,
                                                       .standard_deviation = standard_deviation},
                      random);
  if (options.embedding_norm) norm.emplace(options.transformer().make_norm<T>());
  const double residual =
      options.zero_init
          ? 0.0
          : standard_deviation / std::sqrt(2.0 * static_cast<double>(options.num_blocks));
  for (TransformerEncoderBlock<T>& block : blocks.blocks)
    set_normal_weights(block, standard_deviation, residual, random);
  if (!options.tied) {
    output.emplace(output_options(options), random);
    set_normal_weights(*output, options.zero_init ? 0.0 : standard_deviation, random);
  }
}

template <class T>
Var<T> Gpt<T>::operator()(Tape<T>& tape, const Tokens& input, Mask mask) const {
  return logits(states(tape, input, std::move(mask)));
}

template <class T>
Var<T> Gpt<T>::states(Tape<T>& tape, const Tokens& input, Mask mask) const {
  check_tokens("Gpt: tokens", input);
  Var<T> x = tokens(tape, input);
  if (positions) x = mask.positions.empty() ? (*positions)(x) : (*positions)(x, mask.positions);
  mask.causal = true;
  return blocks(dropout(norm ? (*norm)(x) : x), mask);
}

template <class T>
Var<T> Gpt<T>::loss(Tape<T>& tape, const Tokens& input, const Tokens& targets, Mask mask) const {
  if (targets.shape() != input.shape())
    fail<ShapeError>("Gpt: targets", input.shape(), targets.shape());
  const Var<T> all = states(tape, input, std::move(mask));
  if (output && (output->map || output->bias)) return cross_entropy(logits(all), targets);
  return linear_cross_entropy(all, tape.parameter(output ? output->weight : tokens.weight),
                              targets);
}

template <class T>
Var<T> Gpt<T>::extend(Tape<T>& tape, const Tokens& input, KeyValueCache<T>& cache) const {
  if (input.rank() != 2 || input.shape()[0] != cache.num_sequences())
    fail<ShapeError>("Gpt: tokens", str_cat("shape [", cache.num_sequences(), ", time]"),
                     input.shape());
  Var<T> x = tokens(tape, input);
  if (positions) x = (*positions)(x, cache.next_positions(tape, input.shape()[1]));
  return blocks.extend(dropout(norm ? (*norm)(x) : x), cache);
}

template <class T>
Var<T> Gpt<T>::logits(const Var<T>& states) const {
  return output ? (*output)(states) : linear(states, states.tape().parameter(tokens.weight));
}

template <class T>
void Gpt<T>::untie() {
  if (output) return;
  Random zeros = Random::zeros();
  output.emplace(output_options(options), zeros);
  output->weight = Parameter<T>(tokens.weight.value().clone());
  options.tied = false;
}

template <class T>
std::optional<ModelDescription> Gpt<T>::description() const {
  return ModelDescription{"Gpt", option_values(options)};
}

template <class T>
void Gpt<T>::members(Members<T>& members) const {
  members.type("Gpt");
  members("tokens", tokens);
  members("positions", positions);
  members("norm", norm);
  members("dropout", dropout);
  members("blocks", blocks);
  members("output", output);
  if (!output) members("output.weight", tokens.weight);
}

template struct Gpt<float>;
template struct Gpt<double>;

}  // namespace weft
