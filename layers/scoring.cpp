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
template <class T>
Var<T> scores(Scoring scoring, const Var<T>& queries, const Var<T>& keys) {
  const Shape &q = queries.shape(), &k = keys.shape();
  if (q.rank() != 3 || k.rank() != 3 || q[0] != k[0] || q[2] != k[2])
    fail<ShapeError>(to_string(scoring) + "_scores",
                     "queries [batch, num_queries, size] and keys [batch, num_keys, size]",
                     str_cat(q, " and ", k));
  // The difference of each query and each key, [batch, num_queries, num_keys, size].
  const auto differences = [&] { return unsqueeze(queries, 2) - unsqueeze(keys, 1); };
  switch (scoring) {
    case Scoring::scaled_dot_product: {
      const double factor = 1.0 / std::sqrt(static_cast<double>(q[2]));
      return matmul(scale(queries, factor), keys, {.transpose_b = true});
    }
    case Scoring::dot_product:
      return matmul(queries, keys, {.transpose_b = true});
    case Scoring::gaussian: {
      // The form ‖q‖² - 2 <q, k> + ‖k‖² would lose the digits of small differences.
      const Var<T> difference = differences();
      return scale(sum(difference * difference, {-1}), -0.5);
    }
    case Scoring::laplacian:
      return negate(sum(abs(differences()), {-1}));
    case Scoring::cosine:
      return matmul(normalize(queries), normalize(keys), {.transpose_b = true});
    case Scoring::additive:
      break;
  }
  fail<ValueError>("scores", "a scoring function without parameters", to_string(scoring));
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
    fail<ShapeError>("AdditiveScoring", "queries and keys of the same batch size",
                     str_cat(queries.shape(), " and ", keys.shape()));
  const Var<T> features = tanh(unsqueeze(W_q(queries), 2) + unsqueeze(W_k(keys), 1));
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

}  // namespace weft
