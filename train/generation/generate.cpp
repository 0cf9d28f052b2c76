#include "weft/train/generation/generate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "weft/autograd/error.hpp"
#include "autograd/internal/checks.hpp"

namespace weft {
namespace {

// The candidates, the most probable first.
template <class T>
std::vector<TokenId> most_probable(std::span<const T> logits, Index count) {
  std::vector<TokenId> tokens(logits.size());
  std::iota(tokens.begin(), tokens.end(), TokenId{0});
  const auto before = [&](TokenId a, TokenId b) {
    const T x = logits[static_cast<std::size_t>(a)], y = logits[static_cast<std::size_t>(b)];
    return x > y || (x == y && a < b);
  };
  const auto last = tokens.begin() + std::min(count, std::ssize(tokens));
  std::partial_sort(tokens.begin(), last, tokens.end(), before);
  tokens.erase(last, tokens.end());
  return tokens;
}

// The most tokens that the model takes.
template <class T>
Index context_of(const Gpt<T>& model) {
  return model.positions ? model.positions->weight.shape()[0] : std::numeric_limits<Index>::max();
}

}  // namespace

template <class T>
TokenId sample_token(std::span<const T> logits, const SamplingOptions& options, Random& random) {
  check_finite_non_negative("sampling: temperature", options.temperature);
  check_at_least("sampling: top_k", options.top_k, Index{0});
  if (logits.empty()) fail<ValueError>("sampling", "at least one logit", "none");
  for (const T logit : logits)
    if (!(logit < std::numeric_limits<T>::infinity()))
      fail<NonFiniteError>("sampling", "logits that are numbers or -infinity", logit);
  const Index count = options.temperature == 0.0 ? 1
                      : options.top_k == 0       ? std::ssize(logits)
                                                 : options.top_k;
  const std::vector<TokenId> tokens = most_probable(logits, count);
  const auto logit = [&](TokenId token) {
    return static_cast<double>(logits[static_cast<std::size_t>(token)]);
  };
  const double highest = logit(tokens.front());
  if (std::isinf(highest)) fail<NonFiniteError>("sampling", "a logit above -infinity", "none");
  if (tokens.size() == 1) return tokens.front();
  std::vector<double> sums;  // of the weights up to each token
  double sum = 0.0;
  for (const TokenId token : tokens)
    sums.push_back(sum += std::exp((logit(token) - highest) / options.temperature));
  const auto chosen = std::ranges::upper_bound(sums, random.uniform() * sum);
  return tokens[static_cast<std::size_t>(std::min(chosen - sums.begin(), std::ssize(sums) - 1))];
}

template <class T>
Sequence generate(const Gpt<T>& model, std::span<const TokenId> prompt,
                  const GenerateOptions& options) {
  check_at_least("generate: max_tokens", options.max_tokens, Index{0});
  if (prompt.empty()) fail<ValueError>("generate: prompt", "at least one token", "none");
  Random random(options.seed);
  Tape<T> tape = Tape<T>::inference();
  Sequence text(prompt.begin(), prompt.end());
  for (Index i = 0; i < options.max_tokens; ++i) {
    const Index time = std::min(context_of(model), std::ssize(text));
    Tokens context({1, time});
    std::copy(text.end() - time, text.end(), context.begin());
    const Tensor<T> logits = model(tape, context).value();
    tape.clear();
    const Index vocabulary = logits.shape()[2];
    const TokenId token = sample_token(std::span<const T>(logits.data() + (time - 1) * vocabulary,
                                                          static_cast<std::size_t>(vocabulary)),
                                       options.sampling, random);
    if (token == options.end) break;
    text.push_back(token);
    if (options.on_token) options.on_token(token);
  }
  return {text.begin() + std::ssize(prompt), text.end()};
}

template TokenId sample_token(std::span<const float>, const SamplingOptions&, Random&);
template TokenId sample_token(std::span<const double>, const SamplingOptions&, Random&);
template Sequence generate(const Gpt<float>&, std::span<const TokenId>, const GenerateOptions&);
template Sequence generate(const Gpt<double>&, std::span<const TokenId>, const GenerateOptions&);

}  // namespace weft
