#include <algorithm>
#include <limits>

#include <weft/autograd/error.hpp>
#include <weft/train/text/generation/generate.hpp>
#include <weft/train/text/generation/speculative.hpp>
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

TEST_CASE("generate: a function may change the logits", "[train]") {
  const Gpt<float> model = small_model();
  const std::vector<TokenIds> prompts{{3}, {4, 5}};
  const GenerateOptions plain{.max_tokens = 6};
  GenerateOptions changed = plain;
  std::vector<TokenIds> contexts(2);
  changed.process_logits = [&](Index prompt, std::span<const TokenId> context,
                               std::span<double> logits) {
    REQUIRE(logits.size() == 9);
    contexts[static_cast<std::size_t>(prompt)].assign(context.begin(), context.end());
    if (prompt == 1)  // only the token after the last one
      for (TokenId token = 0; token < 9; ++token)
        if (token != (context.back() + 1) % 9)
          logits[static_cast<std::size_t>(token)] = -std::numeric_limits<double>::infinity();
  };
  const auto texts = generate(model, prompts, changed);
  CHECK(texts[0] == generate(model, prompts, plain)[0]);
  CHECK(texts[1] == TokenIds{6, 7, 8, 0, 1, 2});
  CHECK(contexts[1].back() == 1);
  CHECK(generate_speculatively(
            model, small_model(2), prompts[0],
            {.max_tokens = 4, .process_logits = [](Index, auto, auto logits) { logits[7] = 1000; }})
            .tokens == TokenIds{7, 7, 7, 7});
}

TEST_CASE("generate: no token that ends a text before the minimum length", "[train]") {
  const Gpt<float> model = small_model();
  const TokenIds prompt{3}, ends{0, 1, 2, 3, 4, 5, 6, 7};
  for (const Index min_tokens : {0, 1, 5, 20})
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const GenerateOptions options{
          .max_tokens = 8, .min_tokens = min_tokens, .seed = seed, .eos_token_ids = ends};
      // Only the token 8 does not end a text.
      const TokenIds text = generate(model, prompt, options);
      CHECK(std::ssize(text) >= std::min<Index>(min_tokens, 8));
      CHECK(text == TokenIds(text.size(), 8));
      const TokenIds speculated =
          generate_speculatively(model, small_model(2), prompt, options).tokens;
      CHECK(std::ssize(speculated) >= std::min<Index>(min_tokens, 8));
    }
}

TEST_CASE("generate: no sequence of tokens is repeated", "[train]") {
  const Gpt<float> model = small_model();
  const TokenIds prompt{3};
  const GenerateOptions options{
      .max_tokens = 9, .sampling = {.no_repeat_ngram_size = 1}, .max_context = 5};
  TokenIds text = generate(model, prompt, options);
  text.insert(text.begin(), 3);
  // A token may return when it has left the context, of 3 to 5 tokens.
  for (std::size_t i = 1; i < text.size(); ++i)
    for (std::size_t before = i - std::min<std::size_t>(i, 3); before < i; ++before)
      CHECK(text[i] != text[before]);
  // If the context contains all 9 tokens, no token can be chosen.
  Sampler<float> sampler({.no_repeat_ngram_size = 1});
  const std::vector<float> logits(3, 1.0f);
  CHECK_THROWS_WITH(sampler(logits, TokenIds{0, 1, 2}),
                    "sampling: expected at least one finite logit, got none (see "
                    "no_repeat_ngram_size)");
  CHECK(sampler(logits, TokenIds{0, 1, 1}) == 2);
}

TEST_CASE("generate: bad prompts and options are refused", "[train]") {
  const Gpt<float> model = small_model();
  const TokenIds prompt{3}, none, unknown{9};
  CHECK_THROWS_AS(generate(model, none), ValueError);
  CHECK_THROWS_AS(generate(model, unknown), ValueError);
  CHECK_THROWS_AS(generate(model, prompt, {.max_tokens = -1}), ValueError);
  CHECK_THROWS_AS(generate(model, prompt, {.min_tokens = -1}), ValueError);
  CHECK_THROWS_AS(generate(model, prompt, {.sampling = {.no_repeat_ngram_size = -1}}), ValueError);
  CHECK_THROWS_AS(generate(model, prompt, {.max_context = 0}), ValueError);
  CHECK_THROWS_AS(generate(model, prompt, {.max_context = 6}), ValueError);  // of 5 positions
  CHECK(generate(model, std::vector<TokenIds>{}).empty());
}
