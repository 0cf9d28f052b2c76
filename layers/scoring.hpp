// Scoring: how well a key matches a query.
#pragma once

#include <string>

#include "weft/autograd/enum_names.hpp"
#include "weft/autograd/export.hpp"
#include "weft/layers/linear.hpp"

namespace weft {

// Scoring functions. The softmax of the scores over the keys gives a query's attention weights.
enum class Scoring {
  // <q, k> / √size, of variance 1 for any size when the elements of queries and keys have variance
  // 1 (Vaswani et al., 2017, section 3.2.1).
  scaled_dot_product,
  dot_product,  // <q, k>
  gaussian,     // -‖q - k‖² / 2, the logarithm of the Gaussian kernel up to a constant
  laplacian,    // -Σ|q - k|, the logarithm of the Laplacian kernel up to a constant
  cosine,  // <q, k> / (‖q‖ ‖k‖), within -1 … 1; 0, with zero gradient, for a vector of zeros
  additive  // AdditiveScoring
};

inline constexpr EnumNames<Scoring, 6> scoring_names{{
    {Scoring::scaled_dot_product, "scaled_dot_product"},
    {Scoring::dot_product, "dot_product"},
    {Scoring::gaussian, "gaussian"},
    {Scoring::laplacian, "laplacian"},
    {Scoring::cosine, "cosine"},
    {Scoring::additive, "additive"},
}};
inline std::string to_string(Scoring scoring) { return name_of("scoring", scoring, scoring_names); }

// The scores of a function without parameters, `y[q, k] = score(q, k)` (d2l.ai, section 11.3):
// queries [batch, num_queries, size], keys [batch, num_keys, size], result [batch, num_queries,
// num_keys]. Throws ShapeError, and ValueError for Scoring::additive.
//   Var s = scores(Scoring::cosine, q, k);  // q [2, 4, 8], k [2, 5, 8], s [2, 4, 5]
template <class T>
WEFT_API Var<T> scores(Scoring scoring, const Var<T>& queries, const Var<T>& keys);

struct AdditiveScoringOptions {
  Index query_size = 0;   // the size of the queries
  Index key_size = 0;     // the size of the keys, which may differ
  Index num_hiddens = 0;  // the size of the hidden vectors
};

// `score = w_v · tanh(W_q q + W_k k)` (Bahdanau et al., 2015, appendix A.1.2). Without biases, as
// in d2l.ai.
//   AdditiveScoring score({.query_size = 8, .key_size = 6, .num_hiddens = 16}, random);
//   Var s = score(q, k);  // q [2, 4, 8], k [2, 5, 6], s [2, 4, 5]
template <class T = float>
struct WEFT_API AdditiveScoring : Module<T> {
  // Throws ValueError unless the sizes are > 0.
  AdditiveScoring(const AdditiveScoringOptions& options, Random& random);

  // queries [batch, num_queries, query_size], keys [batch, num_keys, key_size], result
  // [batch, num_queries, num_keys]. Throws ShapeError.
  Var<T> operator()(const Var<T>& queries, const Var<T>& keys) const;

  void members(Members<T>& members) const override;

  Linear<T> W_q, W_k, w_v;  // without biases
};

extern template struct AdditiveScoring<float>;
extern template struct AdditiveScoring<double>;

}  // namespace weft
