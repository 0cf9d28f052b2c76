// Sampler: draws the next token from a language model's logits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/autograd/random.hpp"
#include "weft/train/data/vocabulary.hpp"

namespace weft {

// Options that change the probabilities softmax(logits), applied in the same order as in Hugging
// Face's `generate`: repetition penalty, n-grams, temperature, top_k, top_p, min_p. Each of the
// last three sets the probabilities of some tokens to 0 and normalizes the remaining probabilities.
// The defaults change nothing.
struct SamplingOptions {
  // Divides the logits; ≥ 0. Values below 1 prefer probable tokens; 0 always takes the most
  // probable token.
  double temperature = 1.0;
  // Chooses from the top_k most probable tokens; 0: from all tokens.
  Index top_k = 0;
  // Chooses from the smallest set of most probable tokens whose probabilities sum to at least top_p
  // (nucleus sampling; Holtzman et al., 2020); 0 ≤ top_p ≤ 1. The set has at least one token.
  double top_p = 1.0;
  // Chooses from the tokens that are at least min_p times as probable as the most probable token
  // (Nguyen et al., 2024); 0 ≤ min_p ≤ 1.
  double min_p = 0.0;
  // For tokens in the context, divides positive logits and multiplies negative logits (Keskar et
  // al., 2019); > 0.
  double repetition_penalty = 1.0;
  // Never draws a token that would complete a sequence of this many tokens that the context already
  // contains; 0: draws any token.
  Index no_repeat_ngram_size = 0;
};

// Draws tokens at random, given their logits. Among tokens with equal logits, the lower id counts
// as more probable, which matters for top_k, top_p and a temperature of 0. The same seed always
// draws the same tokens.
//   Sampler<float> sampler({.temperature = 0.8, .top_p = 0.95}, 7);
//   const TokenId token = sampler(logits.value().values());  // logits [vocabulary]
template <class T = float>
class WEFT_API Sampler {
 public:
  // Throws ValueError for options outside their ranges.
  explicit Sampler(const SamplingOptions& options = {}, std::uint64_t seed = 0);

  // Draws a token. `logits` contains one value for each token of the vocabulary; `context` contains
  // the tokens that repetition_penalty and no_repeat_ngram_size apply to, in their order. From the
  // second call on, it allocates no memory if the vocabulary has the same size. Throws ValueError
  // for empty `logits` and for a token in `context` that has no logit, and NonFiniteError if a
  // logit is NaN or +infinity or if all are -infinity.
  TokenId operator()(std::span<const T> logits, std::span<const TokenId> context = {});

  // Returns the probability with which operator() would draw each token. Throws the same exceptions
  // as operator().
  std::vector<double> probabilities(std::span<const T> logits,
                                    std::span<const TokenId> context = {});

 private:
  // A token among which the least probable token to keep is searched.
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
  std::vector<T> scores_;   // logits after the repetition penalty
  std::vector<T> weights_;  // probabilities before normalization
  std::vector<Candidate> candidates_;
};

extern template class Sampler<float>;
extern template class Sampler<double>;

}  // namespace weft
