// Sampler: draws the next token from a language model's logits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/autograd/random.hpp"
#include "weft/train/data/vocabulary.hpp"

namespace weft {

// Changes to the probabilities softmax(logits), made in the order of Hugging Face's `generate`: the
// repetition penalty, the temperature, then top_k, top_p and min_p, each of which sets the
// probabilities of tokens to 0 and normalizes those of the rest. By default there are none.
struct SamplingOptions {
  // Divides the logits, ≥ 0: below 1 prefers probable tokens, 0 always takes the most probable one.
  double temperature = 1.0;
  // The number of most probable tokens to choose from; 0: all.
  Index top_k = 0;
  // 0 … 1: chooses from the fewest most probable tokens whose probabilities add up to top_p or
  // more, and at least one (nucleus sampling; Holtzman et al., 2020).
  double top_p = 1.0;
  // 0 … 1: chooses from the tokens that are at least min_p times as probable as the most probable
  // one (Nguyen et al., 2024).
  double min_p = 0.0;
  // > 0: divides the logits above 0 of the tokens in the context, and multiplies those below 0
  // (Keskar et al., 2019).
  double repetition_penalty = 1.0;
};

// Draws tokens with the probabilities of logits. Of tokens with equal logits, those with lower ids
// count as more probable, and so are preferred at the limits of top_k and top_p and by a
// temperature of 0. The same seed gives the same tokens.
//   Sampler<float> sampler({.temperature = 0.8, .top_p = 0.95}, 7);
//   const TokenId token = sampler(logits.value().values());  // logits [vocabulary]
template <class T = float>
class WEFT_API Sampler {
 public:
  // Throws ValueError for options outside their ranges.
  explicit Sampler(const SamplingOptions& options = {}, std::uint64_t seed = 0);

  // A token drawn at random, where `logits` has one number for each token of the vocabulary, and
  // `context` the tokens that repetition_penalty applies to, in any order. From the second call
  // on, it allocates no memory for a vocabulary of the same size. Throws ValueError without logits
  // and for a token of the context that has none, and NonFiniteError for a logit that is NaN or
  // +infinity, or when all are -infinity.
  TokenId operator()(std::span<const T> logits, std::span<const TokenId> context = {});

  // The probability of each token to be drawn; it draws none. Throws as above.
  std::vector<double> probabilities(std::span<const T> logits,
                                    std::span<const TokenId> context = {});

 private:
  // A token of those among which the last of the most probable ones is searched.
  struct Candidate {
    T score, weight;
    TokenId token;
    // Whether it counts as more probable.
    friend bool operator<(const Candidate& a, const Candidate& b) {
      return a.score > b.score || (a.score == b.score && a.token < b.token);
    }
  };

  void compute_scores(std::span<const T> logits, std::span<const TokenId> context);
  void compute_weights(std::span<const T> logits, std::span<const TokenId> context);
  Candidate last_of_top_k();
  Candidate last_of_top_p();
  void remove_below(const Candidate& last);

  SamplingOptions options_;
  Random random_;
  std::vector<T> scores_;   // the logits with the penalty
  std::vector<T> weights_;  // multiples of the probabilities
  std::vector<Candidate> candidates_;
};

extern template class Sampler<float>;
extern template class Sampler<double>;

}  // namespace weft
