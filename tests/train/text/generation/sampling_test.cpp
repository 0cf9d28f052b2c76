#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include <weft/autograd/error.hpp>
#include <weft/train/text/generation/sampling.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/text/generation/chi_square.hpp"

using namespace weft;

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

std::vector<double> softmax_of(const std::vector<double>& scores) {
  const double highest = std::ranges::max(scores);
  std::vector<double> probabilities;
  for (const double score : scores) probabilities.push_back(std::exp(score - highest));
  const double sum = std::accumulate(probabilities.begin(), probabilities.end(), 0.0);
  for (double& probability : probabilities) probability /= sum;
  return probabilities;
}

// The probabilities by the definition of each option, with everything sorted and in double.
template <class T>
std::vector<double> by_definition(const std::vector<T>& logits, const TokenIds& context,
                                  const SamplingOptions& options) {
  std::vector<double> scores(logits.begin(), logits.end());
  for (const TokenId token : std::set<TokenId>(context.begin(), context.end())) {
    double& score = scores[static_cast<std::size_t>(token)];
    score = static_cast<T>(score > 0 ? score / options.repetition_penalty
                                     : score * options.repetition_penalty);
  }
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](auto a, auto b) { return scores[a] > scores[b]; });
  if (options.temperature == 0.0) {
    std::vector<double> probabilities(scores.size(), 0.0);
    probabilities[order.front()] = 1.0;
    return probabilities;
  }
  for (double& score : scores) score /= options.temperature;
  if (options.top_k > 0)
    for (auto i = static_cast<std::size_t>(options.top_k); i < order.size(); ++i)
      scores[order[i]] = -infinite;
  const std::vector<double> before_top_p = softmax_of(scores);
  double sum = 0.0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (options.top_p < 1.0 && i > 0 && sum >= options.top_p) scores[order[i]] = -infinite;
    sum += before_top_p[order[i]];
  }
  const std::vector<double> before_min_p = softmax_of(scores);
  const double least = options.min_p * std::ranges::max(before_min_p);
  for (std::size_t i = 0; i < scores.size(); ++i)
    if (before_min_p[i] < least) scores[i] = -infinite;
  return softmax_of(scores);
}

template <class T>
void check_against_definition(const std::vector<T>& logits, const TokenIds& context,
                              const SamplingOptions& options) {
  CAPTURE(logits.size(), options.temperature, options.top_k, options.top_p, options.min_p,
          options.repetition_penalty);
  const std::vector<double> expected = by_definition(logits, context, options);
  const std::vector<double> actual = Sampler<T>(options).probabilities(logits, context);
  REQUIRE(actual.size() == expected.size());
  constexpr double tolerance = std::is_same_v<T, float> ? 2e-5 : 1e-12;
  double worst = 0.0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    // float exp is 0 below e^-87.
    if (expected[i] > 1e-37)
      worst = std::max(worst, std::abs(actual[i] - expected[i]) / expected[i]);
    else if (!(actual[i] <= 1e-37))
      worst = infinite;
  }
  CHECK(worst < tolerance);
}

// Normal logits, some of which are equal or -infinity when `with_ties`.
template <class T>
std::vector<T> random_logits(std::size_t size, Random& random, bool with_ties) {
  std::vector<T> logits(size);
  for (T& logit : logits) {
    double value = 3.0 * random.normal();
    if (with_ties) value = random.uniform() < 0.2 ? -infinite : std::round(value);
    logit = static_cast<T>(value);
  }
  logits[size / 2] = T{1};
  return logits;
}

const std::vector<SamplingOptions> all_options{
    {},
    {.temperature = 0},
    {.temperature = 0.3},
    {.temperature = 4},
    {.top_k = 1},
    {.top_k = 5},
    {.top_k = 100},
    {.top_k = 1'000'000'000},
    {.top_p = 0},
    {.top_p = 0.3},
    {.top_p = 0.95},
    {.top_p = 0.999},
    {.min_p = 0.05},
    {.min_p = 1},
    {.repetition_penalty = 1.3},
    {.repetition_penalty = 0.5},
    {.temperature = 0, .repetition_penalty = 2},
    {.temperature = 0.7, .top_k = 20, .top_p = 0.9, .min_p = 0.02, .repetition_penalty = 1.2},
    {.temperature = 1.5, .top_k = 200, .top_p = 0.8},
    {.top_p = 0.9, .min_p = 0.1},
};

}  // namespace

TEMPLATE_TEST_CASE("sampling: probabilities are those of the definitions", "[train]", float,
                   double) {
  Random random(5);
  for (const std::size_t size : {1u, 2u, 3u, 15u, 17u, 65u, 255u, 257u, 1000u, 5000u})
    for (const bool with_ties : {false, true}) {
      const auto logits = random_logits<TestType>(size, random, with_ties);
      TokenIds context;
      for (int i = 0; i < 8; ++i)
        context.push_back(static_cast<TokenId>(random.below(static_cast<Index>(size))));
      for (const SamplingOptions& options : all_options)
        check_against_definition(logits, context, options);
    }
}

TEST_CASE("sampling: probabilities of a vocabulary as large as GPT-2's", "[train]") {
  Random random(6);
  const auto logits = random_logits<float>(50'257, random, false);
  for (const SamplingOptions& options : all_options)
    check_against_definition(logits, {3, 50'256, 3, 0}, options);
}

TEST_CASE("sampling: of equal logits, those of the first tokens are kept", "[train]") {
  const std::vector<double> logits{1, 2, 2, 1, 2, 1};
  using Probabilities = std::vector<double>;
  const auto of = [&](const SamplingOptions& options) {
    return Sampler<double>(options).probabilities(logits);
  };
  CHECK(of({.temperature = 0}) == Probabilities{0, 1, 0, 0, 0, 0});
  CHECK(of({.top_k = 2}) == Probabilities{0, 0.5, 0.5, 0, 0, 0});
  CHECK(of({.top_k = 4})[0] > 0.0);
  CHECK(of({.top_k = 4})[3] == 0.0);
  CHECK(of({.top_p = 0.4}) == Probabilities{0, 0.5, 0.5, 0, 0, 0});
  CHECK(of({.min_p = 1})[4] > 0.3);
  // The first reaches top_p exactly.
  const std::vector<double> equal(3, 0.0);
  CHECK(Sampler<double>({.top_p = 1.0 / 3.0}).probabilities(equal) == Probabilities{1, 0, 0});
}

TEST_CASE("sampling: the penalty is applied once to each token of the context", "[train]") {
  const std::vector<double> logits{2, -2, 0, 1};
  const std::vector<double> once =
      Sampler<double>({.repetition_penalty = 2}).probabilities(logits, TokenIds{0, 1, 2});
  CHECK(Sampler<double>({.repetition_penalty = 2})
            .probabilities(logits, TokenIds{2, 1, 0, 0, 1, 1}) == once);
  // Logits of 1, -4, 0 and 1.
  const double sum = 2 * std::exp(1) + std::exp(-4) + 1;
  CHECK(std::abs(once[0] - std::exp(1) / sum) < 1e-15);
  CHECK(std::abs(once[1] - std::exp(-4) / sum) < 1e-15);
  CHECK(std::abs(once[2] - 1 / sum) < 1e-15);
}

TEMPLATE_TEST_CASE("sampling: tokens are drawn as often as is probable", "[train]", float, double) {
  constexpr int draws = 20'000;
  Random random(7);
  for (const std::size_t size : {1u, 4u, 300u}) {
    const auto logits = random_logits<TestType>(size, random, size == 300);
    for (const SamplingOptions& options : all_options) {
      Sampler<TestType> sampler(options, 11);
      std::vector<int> counts(size);
      for (int i = 0; i < draws; ++i) ++counts[static_cast<std::size_t>(sampler(logits))];
      CAPTURE(size, options.temperature, options.top_k, options.top_p, options.min_p);
      CHECK(is_plausible(counts, by_definition(logits, {}, options)));
    }
  }
}

TEST_CASE("sampling: the same seed gives the same tokens", "[train]") {
  Random random(8);
  const auto logits = random_logits<float>(500, random, false);
  const auto drawn = [&](Sampler<float> sampler) {
    TokenIds tokens;
    for (int i = 0; i < 50; ++i) tokens.push_back(sampler(logits));
    return tokens;
  };
  CHECK(drawn(Sampler<float>({.top_k = 100}, 1)) == drawn(Sampler<float>({.top_k = 100}, 1)));
  CHECK(drawn(Sampler<float>({.top_k = 100}, 1)) != drawn(Sampler<float>({.top_k = 100}, 2)));
  // Probabilities draw nothing, and logits before do not matter.
  Sampler<float> sampler({.top_p = 0.9}, 3), other({.top_p = 0.9}, 3);
  const auto large = random_logits<float>(900, random, true);
  (void)sampler.probabilities(large);
  for (int i = 0; i < 20; ++i) CHECK(sampler(logits) == other(logits));
}

TEMPLATE_TEST_CASE("sampling: extreme logits and temperatures give probabilities", "[train]", float,
                   double) {
  constexpr auto highest = std::numeric_limits<TestType>::max();
  const std::vector<TestType> logits{highest, -highest, 0, highest,
                                     -std::numeric_limits<TestType>::infinity()};
  for (const double temperature : {1e-300, 1e-30, 1.0}) {
    const std::vector<double> probabilities =
        Sampler<TestType>({.temperature = temperature}).probabilities(logits);
    CHECK(probabilities == std::vector<double>{0.5, 0, 0, 0.5, 0});
  }
  const std::vector<TestType> usual{1, 2, -std::numeric_limits<TestType>::infinity()};
  const std::vector<double> hot = Sampler<TestType>({.temperature = 1e300}).probabilities(usual);
  CHECK(hot == std::vector<double>{0.5, 0.5, 0});
}

TEST_CASE("sampling: options and logits that make no sense are refused", "[train]") {
  const std::vector<double> logits{1.0, 2.0};
  const auto sample = [&](const std::vector<double>& values, const SamplingOptions& options,
                          const TokenIds& context = {}) {
    return Sampler<double>(options)(values, context);
  };
  const double nan = std::nan("");
  for (const double wrong : {-1.0, nan, infinite}) {
    CHECK_THROWS_AS(sample(logits, {.temperature = wrong}), ValueError);
    CHECK_THROWS_AS(sample(logits, {.top_p = wrong}), ValueError);
    CHECK_THROWS_AS(sample(logits, {.min_p = wrong}), ValueError);
    CHECK_THROWS_AS(sample(logits, {.repetition_penalty = wrong}), ValueError);
  }
  CHECK_THROWS_AS(sample(logits, {.repetition_penalty = 0}), ValueError);
  CHECK_THROWS_AS(sample(logits, {.top_k = -1}), ValueError);
  CHECK_THROWS_AS(sample({}, {}), ValueError);
  for (const SamplingOptions& options : all_options) {
    CHECK_THROWS_AS(sample({1.0, nan}, options), NonFiniteError);
    CHECK_THROWS_AS(sample({1.0, infinite}, options), NonFiniteError);
    CHECK_THROWS_AS(sample({-infinite, -infinite}, options), NonFiniteError);
  }
  CHECK(message_of<ValueError>([&] { sample(logits, {.top_p = 1.5}); }) ==
        "sampling: top_p: expected a probability from 0 to 1, got 1.5");
  CHECK(message_of<ValueError>([&] { sample(logits, {.repetition_penalty = -2}); }) ==
        "sampling: repetition_penalty: expected a number > 0, got -2");
  CHECK(message_of<NonFiniteError>([&] {
          sample({1.0, nan}, {});
        }) == "sampling: expected finite logits or -infinity, got nan for token 1");
  for (const TokenId unknown : {-1, 2})
    CHECK(message_of<ValueError>([&] {
            sample(logits, {.repetition_penalty = 2}, {0, unknown});
          }) == str_cat("sampling: context: expected tokens from 0 to 1, got ", unknown));
}
