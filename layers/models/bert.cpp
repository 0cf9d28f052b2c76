#include "weft/layers/models/bert.hpp"

#include <limits>

#include "weft/autograd/ops/arithmetic.hpp"
#include "weft/autograd/ops/shaping.hpp"
#include "autograd/internal/saturating_product.hpp"
#include "layers/internal/checks.hpp"
#include "layers/internal/normal_weights.hpp"

namespace weft {
namespace {

constexpr double standard_deviation = 0.02;

const BertOptions& checked(const BertOptions& options) {
  check_positive("Bert: vocabulary_size", options.vocabulary_size);
  check_positive("Bert: num_hiddens", options.num_hiddens);
  check_positive("Bert: max_len", options.max_len);
  check_positive("Bert: num_segments", options.num_segments);
  constexpr Index most = std::numeric_limits<Index>::max();
  if (options.first_position < 0 || options.first_position > most - options.max_len)
    fail<ValueError>("Bert: first_position", str_cat("a value from 0 to ", most - options.max_len),
                     options.first_position);
  return options;
}

template <class T>
Embedding<T> embedding(Index num_embeddings, const BertOptions& options, Random& random) {
  return Embedding<T>({.num_embeddings = num_embeddings,
                       .embedding_dim = options.num_hiddens,
                       .standard_deviation = standard_deviation},
                      random);
}

}  // namespace

TransformerOptions BertOptions::transformer() const {
  return {.num_blocks = num_blocks,
          .num_hiddens = num_hiddens,
          .ffn_num_hiddens = ffn_num_hiddens.value_or(saturating_product({4, num_hiddens})),
          .num_heads = num_heads,
          .dropout = dropout,
          .activation = activation,
          .attention_bias = true,
          .norm_eps = norm_eps,
          .recompute = recompute};
}

template <class T>
Bert<T>::Bert(const BertOptions& bert_options, Random& random)
    : options(checked(bert_options)),
      tokens(embedding<T>(options.vocabulary_size, options, random)),
      positions({.num_hiddens = options.num_hiddens,
                 .max_len = options.max_len + options.first_position,
                 .standard_deviation = standard_deviation},
                random),
      segments(embedding<T>(options.num_segments, options, random)),
      norm({.num_hiddens = options.num_hiddens, .eps = options.norm_eps}),
      dropout(options.dropout),
      blocks(options.transformer(), random) {
  for (TransformerEncoderBlock<T>& block : blocks.blocks)
    set_normal_weights(block, standard_deviation, standard_deviation, random);
  if (options.pooler) {
    pooler.emplace(
        LinearOptions{.in_features = options.num_hiddens, .out_features = options.num_hiddens},
        random);
    set_normal_weights(*pooler, standard_deviation, random);
  }
}

template <class T>
Var<T> Bert<T>::states(const Tokens& input, const Var<T>& segment_vectors,
                       const ValidLens& valid_lens) const {
  const Var<T> x = tokens(segment_vectors.tape(), input);
  const Index time = input.shape()[1], first_position = options.first_position,
              max_len = positions.weight.shape()[0] - first_position;
  if (time > max_len)
    fail<ValueError>("Bert: tokens",
                     str_cat("a sequence length of at most ", max_len, " (max_len)"), time);
  Tokens places(input.shape());
  Index place = 0;
  for (Index i = 0; i < places.size(); ++i) {
    if (i % time == 0) place = first_position;
    const bool is_padding = first_position > 0 && input.data()[i] == first_position - 1;
    places.data()[i] = static_cast<TokenId>(is_padding ? first_position - 1 : place++);
  }
  const Var<T> placed = first_position == 0 ? positions(x) : positions(x, places);
  return blocks(dropout(norm(placed + segment_vectors)), valid_lens);
}

template <class T>
Var<T> Bert<T>::operator()(Tape<T>& tape, const Tokens& input, const ValidLens& valid_lens) const {
  check_tokens("Bert: tokens", input);
  return states(input, slice(tape.parameter(segments.weight), 0, 0, 1), valid_lens);
}

template <class T>
Var<T> Bert<T>::operator()(Tape<T>& tape, const Tokens& input, const Tokens& input_segments,
                           const ValidLens& valid_lens) const {
  check_tokens("Bert: tokens", input);
  if (input_segments.shape() != input.shape())
    fail<ShapeError>("Bert: segments", str_cat("the shape of the tokens, ", input.shape()),
                     input_segments.shape());
  return states(input, segments(tape, input_segments), valid_lens);
}

template <class T>
Var<T> Bert<T>::pooled(const Var<T>& states) const {
  if (!pooler)
    fail<ValueError>("Bert: pooled", "a model with a pooler", "a model without a pooler");
  check_sequences("Bert: states", states.shape(), pooler->in_features());
  if (states.shape()[1] == 0)
    fail<ValueError>("Bert: states", "at least one position", states.shape());
  return (*pooler)(squeeze(slice(states, 1, 0, 1), 1), Activation::tanh);
}

template <class T>
std::optional<ModelDescription> Bert<T>::description() const {
  return ModelDescription{"Bert", option_values(options)};
}

template <class T>
void Bert<T>::members(Members<T>& members) const {
  members.type("Bert");
  members("tokens", tokens);
  members("positions", positions);
  members("segments", segments);
  members("norm", norm);
  members("dropout", dropout);
  members("blocks", blocks);
  members("pooler", pooler);
}

template struct Bert<float>;
template struct Bert<double>;

}  // namespace weft
