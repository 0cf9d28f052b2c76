#include <array>
#include <cmath>
#include <limits>

#include <weft/autograd/error.hpp>
#include <weft/train/generation/generate.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"

using namespace weft;

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

// How often each token is drawn from `logits`, of 20,000.
std::vector<double> frequencies(const std::vector<double>& logits, const SamplingOptions& options) {
  constexpr int draws = 20'000;
  Random random(3);
  std::vector<double> counts(logits.size());
  for (int i = 0; i < draws; ++i)
    counts[static_cast<std::size_t>(sample_token(std::span(logits), options, random))] +=
        1.0 / draws;
  return counts;
}

Gpt<float> small_model(std::uint64_t seed = 1) {
  Random random(seed);
  return Gpt<float>({.vocabulary_size = 9, .max_len = 5, .num_hiddens = 8, .num_heads = 2}, random);
}

}  // namespace

TEST_CASE("sampling: tokens are drawn with their probabilities", "[train]") {
  const std::vector<double> logits{std::log(0.1), std::log(0.6), -infinite, std::log(0.3)};
  const std::vector<double> plain = frequencies(logits, {});
  for (const auto& [token, p] : {std::pair{0, 0.1}, {1, 0.6}, {2, 0.0}, {3, 0.3}})
    CHECK(std::abs(plain[static_cast<std::size_t>(token)] - p) < 0.015);
  CHECK(plain[2] == 0.0);
  // With temperature ½, probabilities are squared: 0.01, 0.36 and 0.09 of 0.46.
  const std::vector<double> cold = frequencies(logits, {.temperature = 0.5});
  CHECK(std::abs(cold[1] - 0.36 / 0.46) < 0.015);
  const std::vector<double> top = frequencies(logits, {.top_k = 2});
  CHECK(top[0] == 0.0);
  CHECK(std::abs(top[1] - 2.0 / 3.0) < 0.015);
  CHECK(frequencies(logits, {.temperature = 0.0})[1] > 0.999);
  CHECK(frequencies({1.0, 1.0, 1.0}, {.top_k = 1})[0] > 0.999);  // the first of equal ones
}

TEST_CASE("sampling: options and logits that make no sense are refused", "[train]") {
  Random random(1);
  const std::vector<double> logits{1.0, 2.0};
  const auto sample = [&](const std::vector<double>& values, const SamplingOptions& options) {
    return sample_token(std::span(values), options, random);
  };
  CHECK_THROWS_AS(sample(logits, {.temperature = -1.0}), ValueError);
  CHECK_THROWS_AS(sample(logits, {.temperature = infinite}), ValueError);
  CHECK_THROWS_AS(sample(logits, {.top_k = -1}), ValueError);
  CHECK_THROWS_AS(sample({}, {}), ValueError);
  CHECK_THROWS_AS(sample({1.0, std::nan("")}, {}), NonFiniteError);
  CHECK_THROWS_AS(sample({1.0, infinite}, {}), NonFiniteError);
  CHECK_THROWS_AS(sample({-infinite, -infinite}, {}), NonFiniteError);
  CHECK(sample(logits, {.top_k = 99}) < 2);
}

TEST_CASE("generate: continues with the most probable tokens, sliding past the context",
          "[train]") {
  const Gpt<float> model = small_model();
  const Sequence prompt{3, 1};
  const Sequence result =
      generate(model, prompt, {.max_tokens = 8, .sampling = {.temperature = 0}});
  REQUIRE(result.size() == 8);
  Sequence text = prompt;
  for (const TokenId token : result) {
    const Index time = std::min<Index>(5, std::ssize(text));
    Tokens context({1, time});
    std::copy(text.end() - time, text.end(), context.begin());
    Tape tape = Tape<float>::inference();
    const Tensor<float> logits = model(tape, context).value();
    for (Index other = 0; other < 9; ++other)
      CHECK(logits(0, time - 1, token) >= logits(0, time - 1, other));
    text.push_back(token);
  }
}

TEST_CASE("generate: depends on the seed, and ends at the token that ends a text", "[train]") {
  const Gpt<float> model = small_model();
  const Sequence prompt{3};
  const auto generated = [&](const GenerateOptions& options) {
    return generate(model, prompt, options);
  };
  const Sequence text = generated({.max_tokens = 20, .seed = 1});
  CHECK(generated({.max_tokens = 20, .seed = 1}) == text);
  CHECK(generated({.max_tokens = 20, .seed = 2}) != text);
  const Sequence ended = generated({.max_tokens = 20, .seed = 1, .end = text[4]});
  CHECK(ended.size() <= 4);
  CHECK(std::equal(ended.begin(), ended.end(), text.begin()));
  CHECK(generated({.max_tokens = 0}).empty());
}

TEST_CASE("generate: bad prompts and options are refused", "[train]") {
  const Gpt<float> model = small_model();
  const Sequence prompt{3}, none, unknown{9};
  CHECK_THROWS_AS(generate(model, none), ValueError);
  CHECK_THROWS_AS(generate(model, unknown), ValueError);
  CHECK_THROWS_AS(generate(model, prompt, {.max_tokens = -1}), ValueError);
}
