#include <algorithm>

#include <weft/autograd/error.hpp>
#include <weft/train/text/generation/speculative.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/text/generation/chi_square.hpp"

using namespace weft;

namespace {

Gpt<float> model_of(Index vocabulary, Index width, std::uint64_t seed, Index positions = 32) {
  Random random(seed);
  Gpt<float> model(
      {.vocabulary_size = vocabulary, .max_len = positions, .num_hiddens = width, .num_heads = 2},
      random);
  // Larger weights than training starts with: probabilities that differ from model to model.
  for (const auto& [name, parameter] : named_parameters(model))
    if (parameter->shape().rank() == 2)
      parameter->set_value(random.normal_tensor<float>(parameter->shape(), 0.0, 0.5));
  return model;
}

// A copy whose probabilities are near those of `model`.
Gpt<float> near(const Gpt<float>& model) {
  Random random(9);
  Gpt<float> copy = model;
  for (const auto& [name, parameter] : named_parameters(copy)) {
    Tensor<float> value = parameter->value();
    for (float& number : value) number += static_cast<float>(0.05 * random.normal());
    parameter->set_value(value);
  }
  return copy;
}

// The probability of each text of `length` tokens after the prompt, by passes over the whole text;
// text i has the digits of i.
std::vector<double> probabilities_of_texts(const Gpt<float>& model, const TokenIds& prompt,
                                           Index length, const SamplingOptions& options) {
  if (length == 0) return {1.0};
  Tape tape = Tape<float>::inference();
  const Tensor<float> logits = model(tape, Tokens({1, std::ssize(prompt)}, prompt)).value();
  const auto vocabulary = static_cast<std::size_t>(logits.shape()[2]);
  const std::vector<double> next =
      Sampler<float>(options).probabilities(logits.values().last(vocabulary), prompt);
  std::vector<double> result;
  for (std::size_t token = 0; token < vocabulary; ++token) {
    TokenIds text = prompt;
    text.push_back(static_cast<TokenId>(token));
    for (const double p : probabilities_of_texts(model, text, length - 1, options))
      result.push_back(next[token] * p);
  }
  return result;
}

}  // namespace

TEST_CASE("speculative generation: without randomness, the same tokens as generate", "[train]") {
  for (const Index positions : {64, 9}) {
    const Gpt<float> model = model_of(11, 16, 1, positions);
    Random random(4);
    for (const Gpt<float>& draft : {model_of(11, 8, 2), model_of(11, 8, 3, 5), near(model), model})
      for (const Index length : {1, 3, 12})
        for (const Index num_draft_tokens : {1, 2, 5, 40}) {
          TokenIds prompt;
          for (Index i = 0; i < length; ++i)
            prompt.push_back(static_cast<TokenId>(random.below(11)));
          const GenerateOptions options{.max_tokens = 45, .sampling = {.temperature = 0}};
          CAPTURE(positions, length, num_draft_tokens);
          CHECK(generate_speculatively(model, draft, prompt, options, num_draft_tokens).tokens ==
                generate(model, prompt, options));
        }
  }
}

TEST_CASE("speculative generation: texts have the probabilities of the model", "[train]") {
  constexpr int draws = 6000;
  constexpr Index length = 3, vocabulary = 5;
  const Gpt<float> model = model_of(vocabulary, 8, 5);
  const TokenIds prompt{2, 0, 4};
  for (const Gpt<float>& draft : {model_of(vocabulary, 4, 6), near(model)})
    for (const SamplingOptions& sampling :
         {SamplingOptions{},
          {.temperature = 0.7, .top_k = 4, .repetition_penalty = 1.5},
          {.top_p = 0.7}})
      for (const Index num_draft_tokens : {1, 4}) {
        const std::vector<double> expected =
            probabilities_of_texts(model, prompt, length, sampling);
        std::vector<int> counts(expected.size());
        Index proposed = 0, accepted = 0;
        for (int i = 0; i < draws; ++i) {
          const SpeculativeText text = generate_speculatively(
              model, draft, prompt,
              {.max_tokens = length, .sampling = sampling, .seed = static_cast<std::uint64_t>(i)},
              num_draft_tokens);
          std::size_t index = 0;
          for (const TokenId token : text.tokens)
            index = index * vocabulary + static_cast<std::size_t>(token);
          ++counts[index];
          proposed += text.proposed;
          accepted += text.accepted;
        }
        CAPTURE(num_draft_tokens, sampling.top_k, sampling.top_p, proposed, accepted);
        CHECK(is_plausible(counts, expected));
        CHECK(accepted > 0);
        CHECK(accepted < proposed);
      }
}

TEST_CASE("speculative generation: a draft with the model's probabilities is always accepted",
          "[train]") {
  const Gpt<float> model = model_of(11, 16, 1);
  const SpeculativeText text =
      generate_speculatively(model, model, TokenIds{1, 2}, {.max_tokens = 20}, 3);
  CHECK(text.tokens.size() == 20);
  CHECK(text.proposed == 15);
  CHECK(text.accepted == 15);
}

TEST_CASE("speculative generation: ends as generate does", "[train]") {
  const Gpt<float> model = model_of(11, 16, 1), draft = near(model);
  const TokenIds prompt{3};
  GenerateOptions options{.max_tokens = 30, .sampling = {.temperature = 2}, .seed = 3};
  const auto generated = [&] {
    return generate_speculatively(model, draft, prompt, options).tokens;
  };
  const TokenIds text = generated();
  CHECK(generated() == text);
  CHECK(text.size() == 30);
  for (const TokenId end : {text[3], text[4], text[5], text[6]}) {
    options.eos_token_ids = {end};
    const TokenIds ended = generated();
    const auto first = std::ranges::find(text, end);
    CHECK(ended == TokenIds(text.begin(), first));
  }
  options.eos_token_ids = {};
  for (const std::size_t most : {1u, 2u, 3u, 4u, 7u}) {
    TokenIds seen;
    options.on_token = [&](Index prompt_index, TokenId token) {
      CHECK(prompt_index == 0);
      seen.push_back(token);
      return seen.size() < most;
    };
    CHECK(generated() == TokenIds(text.begin(), text.begin() + static_cast<Index>(most)));
    CHECK(seen.size() == most);
  }
  options.max_tokens = 0;
  CHECK(generated().empty());
}

TEST_CASE("speculative generation: models and options that do not fit are refused", "[train]") {
  const Gpt<float> model = model_of(11, 16, 1), draft = model_of(11, 8, 2),
                   other = model_of(9, 8, 2);
  const auto message = [&](const Gpt<float>& proposing, const TokenIds& prompt,
                           const GenerateOptions& options, Index num_draft_tokens) {
    return message_of<ValueError>(
        [&] { (void)generate_speculatively(model, proposing, prompt, options, num_draft_tokens); });
  };
  CHECK(message(other, {1}, {}, 3) ==
        "generate: draft: expected a vocabulary of 11 tokens, as in the model, got 9");
  CHECK(message(draft, {1}, {}, 0) == "generate: num_draft_tokens: expected a number > 0, got 0");
  CHECK(message(draft, {}, {}, 3) == "generate: prompt: expected at least one token, got none");
  CHECK(message(draft, {1}, {.max_tokens = -1}, 3) ==
        "generate: max_tokens: expected a number ≥ 0, got -1");
  CHECK(message(draft, {1}, {.max_context = 33}, 3) ==
        "generate: max_context: expected at most the model's 32 positions, got 33");
  CHECK(contains(message(draft, {11}, {}, 3), "got 11"));
}
