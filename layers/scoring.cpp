#include "weft/layers/scoring.hpp"

#include <cmath>

#include "weft/autograd/ops/activation.hpp"
#include "weft/autograd/ops/arithmetic.hpp"
#include "weft/autograd/ops/elementwise.hpp"
#include "weft/autograd/ops/matmul.hpp"
#include "weft/autograd/ops/normalization.hpp"
#include "weft/autograd/ops/reductions.hpp"
#include "weft/autograd/ops/shaping.hpp"
#include "layers/internal/checks.hpp"

namespace weft {
namespace {

void check(const char* function, const Shape& queries, const Shape& keys) {
  if (queries.rank() != 3 || keys.rank() != 3 || queries[0] != keys[0] || queries[2] != keys[2])
    fail<ShapeError>(function,
                     "queries [batch, num_queries, size] and keys [batch, num_keys, size]",
                     concatenate_text(queries, " and ", keys));
}

// Each query beside each key: [batch, num_queries, 1, size] and [batch, 1, num_keys, size].
template <class T>
Var<T> as_rows(const Var<T>& queries) {
  return reshape(queries, {queries.shape()[0], queries.shape()[1], 1, queries.shape()[2]});
}
template <class T>
Var<T> as_columns(const Var<T>& keys) {
  return reshape(keys, {keys.shape()[0], 1, keys.shape()[1], keys.shape()[2]});
}

}  // namespace

template <class T>
Var<T> scores(Scoring scoring, const Var<T>& queries, const Var<T>& keys) {
  switch (scoring) {
    case Scoring::scaled_dot_product:
      return scaled_dot_product_scores(queries, keys);
    case Scoring::dot_product:
      return dot_product_scores(queries, keys);
    case Scoring::gaussian:
      return gaussian_scores(queries, keys);
    case Scoring::laplacian:
      return laplacian_scores(queries, keys);
    case Scoring::cosine:
      return cosine_scores(queries, keys);
    case Scoring::additive:
      break;
  }
  fail<ValueError>("scores", "a scoring function without parameters", to_string(scoring));
}

template <class T>
Var<T> dot_product_scores(const Var<T>& queries, const Var<T>& keys) {
  check("dot_product_scores", queries.shape(), keys.shape());
  return matmul(queries, keys, {.transpose_b = true});
}

template <class T>
Var<T> scaled_dot_product_scores(const Var<T>& queries, const Var<T>& keys) {
  check("scaled_dot_product_scores", queries.shape(), keys.shape());
  const auto size = static_cast<double>(queries.shape()[2]);
  return matmul(scale(queries, 1.0 / std::sqrt(size)), keys, {.transpose_b = true});
}

template <class T>
Var<T> gaussian_scores(const Var<T>& queries, const Var<T>& keys) {
  check("gaussian_scores", queries.shape(), keys.shape());
  // From the differences: ‖q‖² - 2 <q, k> + ‖k‖² would cancel the digits of small ones.
  const Var<T> difference = as_rows(queries) - as_columns(keys);
  return scale(sum(difference * difference, {-1}), -0.5);
}

template <class T>
Var<T> laplacian_scores(const Var<T>& queries, const Var<T>& keys) {
  check("laplacian_scores", queries.shape(), keys.shape());
  return negate(sum(abs(as_rows(queries) - as_columns(keys)), {-1}));
}

template <class T>
Var<T> cosine_scores(const Var<T>& queries, const Var<T>& keys) {
  check("cosine_scores", queries.shape(), keys.shape());
  return matmul(normalize(queries), normalize(keys), {.transpose_b = true});
}

template <class T>
AdditiveScoring<T>::AdditiveScoring(const AdditiveScoringOptions& options, Random& random)
    : W_q({options.query_size, options.num_hiddens, false}, random),
      W_k({options.key_size, options.num_hiddens, false}, random),
      w_v({options.num_hiddens, 1, false}, random) {}

template <class T>
Var<T> AdditiveScoring<T>::operator()(const Var<T>& queries, const Var<T>& keys) const {
  check_sequences("AdditiveScoring: queries", queries.shape(), W_q.in_features());
  check_sequences("AdditiveScoring: keys", keys.shape(), W_k.in_features());
  if (queries.shape()[0] != keys.shape()[0])
    fail<ShapeError>("AdditiveScoring", "as many sequences of queries and keys",
                     concatenate_text(queries.shape(), " and ", keys.shape()));
  const Var<T> features = tanh(as_rows(W_q(queries)) + as_columns(W_k(keys)));
  return sum(w_v(features), {-1});
}

template <class T>
void AdditiveScoring<T>::members(Members<T>& members) const {
  members.type("AdditiveScoring");
  members("W_q", W_q);
  members("W_k", W_k);
  members("w_v", w_v);
}

template struct AdditiveScoring<float>;
template struct AdditiveScoring<double>;
template Var<float> scores(Scoring, const Var<float>&, const Var<float>&);
template Var<double> scores(Scoring, const Var<double>&, const Var<double>&);
template Var<float> dot_product_scores(const Var<float>&, const Var<float>&);
template Var<double> dot_product_scores(const Var<double>&, const Var<double>&);
template Var<float> scaled_dot_product_scores(const Var<float>&, const Var<float>&);
template Var<double> scaled_dot_product_scores(const Var<double>&, const Var<double>&);
template Var<float> gaussian_scores(const Var<float>&, const Var<float>&);
template Var<double> gaussian_scores(const Var<double>&, const Var<double>&);
template Var<float> laplacian_scores(const Var<float>&, const Var<float>&);
template Var<double> laplacian_scores(const Var<double>&, const Var<double>&);
template Var<float> cosine_scores(const Var<float>&, const Var<float>&);
template Var<double> cosine_scores(const Var<double>&, const Var<double>&);

}  // namespace weft
