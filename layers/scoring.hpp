// Scoring: functions that score how well a key matches a query.
#pragma once

#include <string>

#include "weft/autograd/enum_names.hpp"
#include "weft/autograd/export.hpp"
#include "weft/layers/linear.hpp"

namespace weft {

// Functions that score how well a key matches a query. Attention weights are the softmax of the
// scores over the keys.
enum class Scoring {
  // <q, k> / √size. If the elements of q and k have variance 1, so has the score, for any size
  // (Vaswani et al., 2017, section 3.2.1).
  scaled_dot_product,
  dot_product,  // <q, k>
  gaussian,     // -‖q - k‖² / 2, the logarithm of the Gaussian kernel up to a constant
  laplacian,    // -Σ|q - k|, the logarithm of the Laplacian kernel up to a constant
  cosine,   // <q, k> / (‖q‖ ‖k‖), from -1 to 1; 0, with zero gradient, if q or k is zero
  additive  // see AdditiveScoring
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

// Returns the scores of all queries and keys, `y[q, k] = score(q, k)`, for a scoring function
// without parameters (d2l.ai, section 11.3). Takes queries [batch, num_queries, size] and keys
// [batch, num_keys, size]; returns [batch, num_queries, num_keys]. Throws ShapeError, and
// ValueError for Scoring::additive.
//   Var s = scores(Scoring::cosine, q, k);  // q [2, 4, 8], k [2, 5, 8], s [2, 4, 5]
template <class T>
WEFT_API Var<T> scores(Scoring scoring, const Var<T>& queries, const Var<T>& keys);

struct AdditiveScoringOptions {
  Index query_size = 0;   // the size of the queries
  Index key_size = 0;     // the size of the keys, which may differ
  Index num_hiddens = 0;  // the size of the hidden vectors
};

// Additive scoring (Bahdanau et al., 2015, appendix A.1.2), without biases as in d2l.ai:
// `score = w_v · tanh(W_q q + W_k k)`.
//   AdditiveScoring score({.query_size = 8, .key_size = 6, .num_hiddens = 16}, random);
//   Var s = score(q, k);  // q [2, 4, 8], k [2, 5, 6], s [2, 4, 5]
template <class T = float>
struct WEFT_API AdditiveScoring : Module<T> {
  // Throws ValueError unless the sizes are > 0.
  AdditiveScoring(const AdditiveScoringOptions& options, Random& random);

  // Takes queries [batch, num_queries, query_size] and keys [batch, num_keys, key_size]; returns
  // [batch, num_queries, num_keys]. Throws ShapeError.
  Var<T> operator()(const Var<T>& queries, const Var<T>& keys) const;

  void members(Members<T>& members) const override;

  Linear<T> W_q, W_k, w_v;  // the linear maps, without biases
};

extern template struct AdditiveScoring<float>;
extern template struct AdditiveScoring<double>;

}  // namespace weft
