#include <algorithm>

#include <weft/autograd/error.hpp>
#include <weft/train/generation/generate.hpp>
#include "tests/catch.hpp"

using namespace weft;

namespace {

Gpt<float> small_model(std::uint64_t seed = 1) {
  Random random(seed);
  return Gpt<float>({.vocabulary_size = 9, .max_len = 5, .num_hiddens = 8, .num_heads = 2}, random);
}

}  // namespace

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
