#include "weft/layers/attention_pooling.hpp"

#include "weft/autograd/ops/arithmetic.hpp"
#include "weft/autograd/ops/attention.hpp"
#include "weft/autograd/ops/indexing.hpp"
#include "weft/autograd/ops/matmul.hpp"
#include "weft/autograd/ops/shaping.hpp"
#include "weft/autograd/ops/softmax.hpp"
#include "weft/autograd/tape.hpp"
#include "weft/layers/heads.hpp"
#include "autograd/ops/internal/masked_nan.hpp"
#include "layers/internal/checks.hpp"

namespace weft {
namespace {

// Expands a position bias by distance, [heads, queries + keys - 1], to one for each query and key,
// [heads, queries, keys].
template <class T>
Var<T> of_pairs(const Var<T>& position_bias, Index queries, Index keys) {
  if (position_bias.rank() != 2 || position_bias.shape()[1] != queries + keys - 1)
    fail<ShapeError>("AttentionPooling: position_bias",
                     str_cat("shape [heads, ", queries + keys - 1, ']'), position_bias.shape());
  Indices distances({queries * keys});
  for (Index i = 0; i < queries * keys; ++i)
    distances.data()[i] = static_cast<std::int32_t>(queries - 1 - i / keys + i % keys);
  return reshape(index_select(position_bias, 1, distances),
                 {position_bias.shape()[0], queries, keys});
}

}  // namespace

template <class T>
AttentionPooling<T>::AttentionPooling(const AttentionPoolingOptions& options, Random& random)
    : dropout(options.dropout), num_heads(options.num_heads), scoring_(options.scoring) {
  check_positive("AttentionPooling: num_heads", num_heads);
  to_string(scoring_);  // throws for a value that is not a Scoring
  if (scoring_ == Scoring::additive) additive_.emplace(options.additive, random);
}

template <class T>
Var<T> AttentionPooling<T>::operator()(const Var<T>& queries, const Var<T>& keys,
                                       const Var<T>& values, const Mask& mask,
                                       const std::optional<Var<T>>& position_bias) const {
  if (has_dot_products())
    return scaled_dot_product_attention(queries, keys, values,
                                        {.num_heads = num_heads,
                                         .mask = mask,
                                         .dropout = dropout.p,
                                         .scaled = scoring_ == Scoring::scaled_dot_product},
                                        position_bias);

  const Shape &q = queries.shape(), &k = keys.shape(), &v = values.shape();
  if (q.rank() != 3 || k.rank() != 3 || v.rank() != 3 || q[0] != k[0] || q[0] != v[0] ||
      k[1] != v[1])
    fail<ShapeError>("AttentionPooling", "queries [B, Q, C], keys [B, K, C] and values [B, K, D]",
                     str_cat(q, ", ", k, " and ", v));
  const MaskView view("masked_softmax", mask, q[0], num_heads, q[1], k[1]);
  const FiniteKeys<T> finite = finite_keys(keys, values);
  const Var<T> head_queries = transpose_qkv(visible_queries(view, queries, keys), num_heads);
  const Var<T> head_keys = transpose_qkv(finite.keys, num_heads);
  const Shape shape{q[0], num_heads, q[1], k[1]};
  Var<T> scored = reshape(
      additive_ ? (*additive_)(head_queries, head_keys) : scores(scoring_, head_queries, head_keys),
      shape);
  if (position_bias) scored = scored + of_pairs(*position_bias, q[1], k[1]);
  const Var<T> p = masked_softmax(finite.mark(scored), mask);
  Tape<T>& tape = p.tape();
  if (tape.keeps_attention_weights()) tape.add_attention_weights(p.value());
  const Var<T> y = matmul(reshape(dropout(p), {q[0] * num_heads, q[1], k[1]}),
                          transpose_qkv(finite.values, num_heads));
  return transpose_output(y, num_heads);
}

template <class T>
void AttentionPooling<T>::members(Members<T>& members) const {
  members.type("AttentionPooling",
               str_cat("scoring=", to_string(scoring_), ", num_heads=", num_heads));
  members("dropout", dropout);
  members("additive", additive_);
}

template struct AttentionPooling<float>;
template struct AttentionPooling<double>;

}  // namespace weft
