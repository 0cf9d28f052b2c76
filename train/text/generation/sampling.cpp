#include "weft/train/text/generation/sampling.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "weft/autograd/error.hpp"
#include "autograd/internal/checks.hpp"
#include "autograd/kernels/vector.hpp"
#include "autograd/kernels/vector_math.hpp"
#include "train/text/generation/internal/repeated_ngrams.hpp"

namespace weft {
namespace {

// The number of elements that are summed as a block before single elements are examined.
constexpr Index block_size = 256;

template <class T>
Index size_of_block(const std::vector<T>& values, Index first) {
  return std::min(block_size, std::ssize(values) - first);
}

template <class T>
double sum_of_block(const std::vector<T>& weights, Index first) {
  return static_cast<double>(
      sum_of_row(size_of_block(weights, first), identity, weights.data() + first));
}

template <class T>
double sum_of(const std::vector<T>& weights) {
  double sum = 0.0;
  for (Index first = 0; first < std::ssize(weights); first += block_size)
    sum += sum_of_block(weights, first);
  return sum;
}

// Has no early exit, so that the loop is vectorized.
template <class T>
bool all_below_infinity(std::span<const T> logits) {
  bool all = true;
  for (const T logit : logits) all &= logit < std::numeric_limits<T>::infinity();
  return all;
}

template <class T>
void check_logits(std::span<const T> logits) {
  constexpr T infinite = std::numeric_limits<T>::infinity();
  if (logits.empty()) fail<ValueError>("sampling", "at least one logit", "none");
  if (all_below_infinity(logits)) return;
  const auto wrong = std::ranges::find_if(logits, [](T logit) { return !(logit < infinite); });
  fail<NonFiniteError>("sampling", "finite logits or -infinity",
                       str_cat(*wrong, " for token ", wrong - logits.begin()));
}

// Returns 1 / temperature, limited so that its product with (logit - maximum) is never NaN.
template <class T>
T inverse_of(double temperature) {
  return static_cast<T>(std::clamp(1.0 / temperature,
                                   static_cast<double>(std::numeric_limits<T>::min()),
                                   static_cast<double>(std::numeric_limits<T>::max())));
}

}  // namespace

template <class T>
Sampler<T>::Sampler(const SamplingOptions& options, std::uint64_t seed)
    : options_(options), random_(seed) {
  check_finite_non_negative("sampling: temperature", options.temperature);
  check_at_least("sampling: top_k", options.top_k, Index{0});
  check_probability("sampling: top_p", options.top_p);
  check_probability("sampling: min_p", options.min_p);
  check_positive("sampling: repetition_penalty", options.repetition_penalty);
  check_finite_non_negative("sampling: repetition_penalty", options.repetition_penalty);
  check_at_least("sampling: no_repeat_ngram_size", options.no_repeat_ngram_size, Index{0});
}

template <class T>
void Sampler<T>::compute_scores(std::span<const T> logits, std::span<const TokenId> context) {
  scores_.assign(logits.begin(), logits.end());
  if (options_.repetition_penalty == 1.0 && options_.no_repeat_ngram_size == 0) return;
  for (const TokenId token : context) {
    if (token < 0 || token >= std::ssize(logits))
      fail<ValueError>("sampling: context", str_cat("tokens from 0 to ", std::ssize(logits) - 1),
                       token);
    // Reads from `logits`, because `context` may contain a token several times.
    const auto index = static_cast<std::size_t>(token);
    const auto logit = static_cast<double>(logits[index]);
    scores_[index] = static_cast<T>(logit < 0 ? logit * options_.repetition_penalty
                                              : logit / options_.repetition_penalty);
  }
  for_each_repeating_token(context, options_.no_repeat_ngram_size, [&](TokenId token) {
    scores_[static_cast<std::size_t>(token)] = -std::numeric_limits<T>::infinity();
  });
}

template <class T>
void Sampler<T>::compute_weights(std::span<const T> logits, std::span<const TokenId> context) {
  check_logits(logits);
  compute_scores(logits, context);
  const Index n = std::ssize(logits);
  const T maximum = row_maximum(scores_.data(), n);
  if (std::isinf(maximum))
    fail<NonFiniteError>(
        "sampling", "at least one finite logit",
        options_.no_repeat_ngram_size > 0 ? "none (see no_repeat_ngram_size)" : str_cat(maximum));
  weights_.resize(logits.size());
  if (options_.temperature == 0.0) {
    std::ranges::fill(weights_, T{0});
    const auto best = std::ranges::find(scores_, maximum) - scores_.begin();
    weights_[static_cast<std::size_t>(best)] = T{1};
    return;
  }
  const T factor = inverse_of<T>(options_.temperature);
  map_row(
      n, weights_.data(), [=](const auto& score) { return fast_exp((score - maximum) * factor); },
      scores_.data());
  if (options_.top_k > 0 && options_.top_k < n) remove_below(last_of_top_k());
  if (options_.top_p < 1.0) remove_below(last_of_top_p());
  // The weight of the most probable token is 1.
  if (options_.min_p > 0.0)
    map_row(
        n, weights_.data(),
        [least = static_cast<T>(options_.min_p)](const auto& weight) {
          return weight < least ? T{0} : weight;
        },
        weights_.data());
}

// Makes one pass that keeps the candidates above the k-th highest score so far. For n random
// scores, these are about k log(n / k) candidates.
template <class T>
typename Sampler<T>::Candidate Sampler<T>::last_of_top_k() {
  const auto k = static_cast<std::size_t>(options_.top_k);
  candidates_.reserve(2 * k);
  candidates_.clear();
  T limit = -std::numeric_limits<T>::infinity();
  const auto keep_k = [&] {
    const auto last = candidates_.begin() + static_cast<std::ptrdiff_t>(k) - 1;
    std::nth_element(candidates_.begin(), last, candidates_.end());
    limit = last->score;
    candidates_.resize(k);
  };
  for (Index first = 0; first < std::ssize(scores_); first += block_size) {
    const Index size = size_of_block(scores_, first);
    const T* scores = scores_.data() + first;
    if (row_maximum(scores, size) <= limit) continue;
    for (Index i = 0; i < size; ++i)
      if (scores[i] > limit) {
        candidates_.push_back({scores[i], T{0}, static_cast<TokenId>(first + i)});
        if (candidates_.size() == 2 * k) keep_k();
      }
  }
  if (candidates_.size() > k) keep_k();
  return *std::ranges::max_element(candidates_, std::less<>{});
}

template <class T>
typename Sampler<T>::Candidate Sampler<T>::last_of_top_p() {
  const double sum = sum_of(weights_), target = options_.top_p * sum;
  // All tokens below this weight together have a probability below 1 - top_p.
  const auto limit =
      static_cast<T>((1.0 - options_.top_p) * sum / static_cast<double>(weights_.size()));
  candidates_.reserve(weights_.size());
  candidates_.clear();
  for (std::size_t i = 0; i < weights_.size(); ++i)
    if (weights_[i] >= limit && weights_[i] > T{0})
      candidates_.push_back({scores_[i], weights_[i], static_cast<TokenId>(i)});
  // Bisects for the last candidate to keep. The candidates before the range have the sum `before`.
  auto first = candidates_.begin(), end = candidates_.end();
  double before = 0.0;
  while (end - first > 1) {
    const auto middle = first + (end - first) / 2;
    std::nth_element(first, middle, end);
    double half = 0.0;
    for (auto candidate = first; candidate != middle; ++candidate)
      half += static_cast<double>(candidate->weight);
    if (before + half >= target) {
      end = middle;
    } else {
      before += half;
      first = middle;
    }
  }
  return *first;
}

// Sets the weights of tokens that are less probable than `last` to 0.
template <class T>
void Sampler<T>::remove_below(const Candidate& last) {
  const Index not_after = static_cast<Index>(last.token) + 1;
  const T score = last.score;
  T* weights = weights_.data();
  map_row(
      not_after, weights,
      [=](const auto& s, const auto& weight) { return s >= score ? weight : T{0}; }, scores_.data(),
      weights);
  weights += not_after;
  map_row(
      std::ssize(weights_) - not_after, weights,
      [=](const auto& s, const auto& weight) { return s > score ? weight : T{0}; },
      scores_.data() + not_after, weights);
}

template <class T>
TokenId Sampler<T>::operator()(std::span<const T> logits, std::span<const TokenId> context) {
  compute_weights(logits, context);
  const double sum = sum_of(weights_);
  const double target = std::min(random_.uniform() * sum, std::nextafter(sum, 0.0));
  // Finds the block, and then the token, at which the sum of the weights exceeds the target.
  Index first = 0;
  double before = 0.0;
  for (double of_block; before + (of_block = sum_of_block(weights_, first)) <= target;
       first += block_size)
    before += of_block;
  Index chosen = first;
  for (Index i = first; i < first + size_of_block(weights_, first) && before <= target; ++i) {
    const T weight = weights_[static_cast<std::size_t>(i)];
    // By rounding, the sum may remain below the target. The last token with a weight is then
    // chosen.
    if (weight > T{0}) chosen = i;
    before += static_cast<double>(weight);
  }
  return static_cast<TokenId>(chosen);
}

template <class T>
std::vector<double> Sampler<T>::probabilities(std::span<const T> logits,
                                              std::span<const TokenId> context) {
  compute_weights(logits, context);
  const double sum = sum_of(weights_);
  std::vector<double> probabilities;
  probabilities.reserve(weights_.size());
  for (const T weight : weights_) probabilities.push_back(static_cast<double>(weight) / sum);
  return probabilities;
}

template class Sampler<float>;
template class Sampler<double>;

}  // namespace weft
