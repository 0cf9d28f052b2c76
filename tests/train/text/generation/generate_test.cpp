#include <algorithm>

#include <weft/autograd/error.hpp>
#include <weft/train/text/generation/generate.hpp>
#include "autograd/internal/bf16_emulation.hpp"
#include "tests/catch.hpp"

using namespace weft;

namespace {

Gpt<float> small_model(std::uint64_t seed = 1) {
  Random random(seed);
  return Gpt<float>({.vocabulary_size = 9, .max_len = 5, .num_hiddens = 8, .num_heads = 2}, random);
}

}  // namespace

TEST_CASE("generate: the tokens of recomputing everything, sliding past the context", "[train]") {
  const bool modern = GENERATE(false, true);
  const Index max_context = GENERATE(1, 2, 5, 8);
  const Index prompt_length = GENERATE(1, 4, 13);
  const SamplingOptions sampling = GENERATE(SamplingOptions{.temperature = 0.0},
                                            SamplingOptions{.top_k = 4, .repetition_penalty = 1.5});
  Random random(5);
  GptOptions options{.vocabulary_size = 9, .max_len = 8, .num_hiddens = 8, .num_heads = 2};
  if (modern) options.rotary.emplace();
  const Gpt<double> model(options, random);
  TokenIds prompt;
  for (Index i = 0; i < prompt_length; ++i) prompt.push_back(static_cast<TokenId>(random.below(9)));
  const TokenIds result =
      generate(model, prompt,
               {.max_tokens = 30, .sampling = sampling, .seed = 7, .max_context = max_context});

  TokenIds text = prompt;
  Sampler<double> sampler(sampling, 7);
  auto tape = Tape<double>::inference();
  Index begin = std::max<Index>(0, prompt_length - max_context);
  for (int i = 0; i < 30; ++i) {
    const Index length = std::ssize(text);
    if (length - begin > max_context) begin = length - (max_context + 1) / 2;
    CHECK(begin == context_begin(prompt_length, length, max_context));
    const auto context = std::span<const TokenId>(text).subspan(static_cast<std::size_t>(begin));
    const Tensor<double> logits = model(tape, Tokens({1, std::ssize(context)}, context)).value();
    text.push_back(sampler(logits.values().last(9), context));
  }
  CHECK(result == TokenIds(text.begin() + prompt_length, text.end()));
}

TEST_CASE("generate: prompts of different lengths get the tokens that each gets alone", "[train]") {
  const bool modern = GENERATE(false, true);
  Random random(6);
  GptOptions options{
      .vocabulary_size = 9, .max_len = 16, .num_hiddens = 32, .num_heads = 4, .num_blocks = 2};
  if (modern) {
    options.rotary.emplace();
    options.num_kv_heads = 2;
  }
  const Gpt<float> model(options, random);
  std::vector<TokenIds> prompts;
  for (const Index length : {3, 1, 14, 20, 1, 7}) {
    prompts.emplace_back();
    for (Index i = 0; i < length; ++i)
      prompts.back().push_back(static_cast<TokenId>(random.below(9)));
  }
  GenerateOptions generation{.max_tokens = 40, .seed = 3, .eos_token_ids = {2}, .max_context = 16};
  const auto together = generate(model, prompts, generation);
  REQUIRE(together.size() == prompts.size());
  bool lengths_differ = false;
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    CHECK(generate(model, prompts[i], generation) == together[i]);
    lengths_differ |= together[i].size() != together[0].size();
    ++generation.seed;
  }
  CHECK(lengths_differ);
}

TEST_CASE("generate: products have the precision of the options", "[train][bf16]") {
  const EmulateBf16 emulation;
  Random random(8);
  Gpt<float> model({.vocabulary_size = 40,
                    .max_len = 64,
                    .num_hiddens = 32,
                    .num_heads = 2,
                    .num_blocks = 4,
                    .tied = false},
                   random);
  // With large weights, the rounding errors of the prompt's keys and values change tokens.
  for (const auto& [name, parameter] : named_parameters(model))
    parameter->set_value(random.normal_tensor<float>(parameter->shape(), 0.0, 0.5));
  // Returns how many of 20 texts differ from those in full precision.
  const auto differing = [&](Index prompt_length) {
    TokenIds prompt;
    for (Index i = 0; i < prompt_length; ++i) prompt.push_back(static_cast<TokenId>(i));
    const auto text = [&](std::uint64_t seed, Precision precision) {
      return generate(model, prompt, {.max_tokens = 20, .seed = seed, .precision = precision});
    };
    int count = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed)
      count += text(seed, Precision::bf16) != text(seed, Precision::full);
    return count;
  };
  CHECK(differing(40) > 0);
  CHECK(differing(16) == 0);  // products of up to 16 rows are not rounded
}

TEST_CASE("generate: on_token sees each token and may end a text", "[train]") {
  const Gpt<float> model = small_model();
  const std::vector<TokenIds> prompts{{3}, {4, 5}};
  const auto whole = generate(model, prompts, {.max_tokens = 6});
  std::vector<TokenIds> seen(2);
  const auto some =
      generate(model, prompts, {.max_tokens = 6, .on_token = [&](Index prompt, TokenId token) {
                                  auto& tokens = seen[static_cast<std::size_t>(prompt)];
                                  tokens.push_back(token);
                                  return prompt == 1 || tokens.size() < 2;
                                }});
  CHECK(some[0] == TokenIds(whole[0].begin(), whole[0].begin() + 2));
  CHECK(some[1] == whole[1]);
  CHECK(seen == some);
}

TEST_CASE("generate: depends on the seed, and ends at the token that ends a text", "[train]") {
  const Gpt<float> model = small_model();
  const TokenIds prompt{3};
  const auto generated = [&](const GenerateOptions& options) {
    return generate(model, prompt, options);
  };
  const TokenIds text = generated({.max_tokens = 20, .seed = 1});
  CHECK(generated({.max_tokens = 20, .seed = 1}) == text);
  CHECK(generated({.max_tokens = 20, .seed = 2}) != text);
  const TokenIds ended = generated({.max_tokens = 20, .seed = 1, .eos_token_ids = {text[4]}});
  CHECK(ended.size() <= 4);
  CHECK(std::equal(ended.begin(), ended.end(), text.begin()));
  CHECK(generated({.max_tokens = 20, .seed = 1, .eos_token_ids = {text[4], text[0]}}).empty());
  CHECK(generated({.max_tokens = 0}).empty());
}

TEST_CASE("generate: bad prompts and options are refused", "[train]") {
  const Gpt<float> model = small_model();
  const TokenIds prompt{3}, none, unknown{9};
  CHECK_THROWS_AS(generate(model, none), ValueError);
  CHECK_THROWS_AS(generate(model, unknown), ValueError);
  CHECK_THROWS_AS(generate(model, prompt, {.max_tokens = -1}), ValueError);
  CHECK_THROWS_AS(generate(model, prompt, {.max_context = 0}), ValueError);
  CHECK_THROWS_AS(generate(model, prompt, {.max_context = 6}), ValueError);  // of 5 positions
  CHECK(generate(model, std::vector<TokenIds>{}).empty());
}
