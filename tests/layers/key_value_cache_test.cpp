// Decoding step by step with a cache, against the whole sequence at once.
#include <limits>
#include <numeric>

#include <weft/autograd/ops/no_grad.hpp>
#include <weft/autograd/ops/shaping.hpp>
#include <weft/layers/models/encoder_decoder.hpp>
#include <weft/layers/models/gpt.hpp>
#include <weft/layers/multi_head_attention.hpp>
#include "tests/catch.hpp"
#include "tests/compare.hpp"
#include "tests/layers/scorings.hpp"
#include "tests/messages.hpp"

using namespace weft;

namespace {

// Steps of these numbers of positions: one at a time, several, and more than are computed one by
// one.
const std::vector<Index> steps{3, 1, 1, 12, 2, 1, 20};
const Index total = std::accumulate(steps.begin(), steps.end(), Index{0});

MultiHeadAttentionOptions attention_options(Scoring scoring, std::optional<Index> num_kv_heads,
                                            bool rotary) {
  MultiHeadAttentionOptions options{.query_size = 6,
                                    .key_size = 6,
                                    .value_size = 6,
                                    .num_hiddens = 8,
                                    .num_heads = 4,
                                    .num_kv_heads = num_kv_heads,
                                    .scoring = scoring,
                                    .bias = true};
  if (rotary) options.rotary.emplace();
  return options;
}

Tokens random_tokens(Random& random, const Shape& shape, Index vocabulary) {
  Tokens tokens(shape);
  for (TokenId& token : tokens) token = static_cast<TokenId>(random.below(vocabulary));
  return tokens;
}

// Positions begin … end of x [batch, time] or [batch, time, size].
Tokens part(const Tokens& x, Index begin, Index end) {
  Tokens result({x.shape()[0], end - begin});
  for (Index i = 0; i < x.shape()[0]; ++i)
    for (Index t = begin; t < end; ++t) result(i, t - begin) = x(i, t);
  return result;
}
template <class T>
Tensor<T> part(const Tensor<T>& x, Index begin, Index end) {
  return no_grad([&](const auto& v) { return slice(v, 1, begin, end); }, x);
}

// The largest difference of extend(part of x), for all steps, from the parts of `expected`.
template <class X, class T, class Extend>
double difference_in_steps(const X& x, const Tensor<T>& expected, const Extend& extend) {
  double worst = 0.0;
  Index begin = 0;
  for (const Index step : steps) {
    const Tensor<T> result = extend(part(x, begin, begin + step));
    worst = std::max(worst, distance(result, part(expected, begin, begin + step)));
    begin += step;
  }
  return worst;
}

GptOptions gpt_options() {
  return {.vocabulary_size = 11, .max_len = 50, .num_hiddens = 24, .num_heads = 4, .num_blocks = 3};
}
GptOptions modern_gpt_options() {
  GptOptions options = gpt_options();
  options.bias = options.tied = false;
  options.rotary.emplace();
  options.norm = Norm::rms_norm;
  options.swiglu = true;
  options.num_kv_heads = 2;
  return options;
}

}  // namespace

TEST_CASE("cache: attention extended step by step equals causal attention", "[layers]") {
  const Scoring scoring = GENERATE(from_range(scorings));
  const std::optional<Index> num_kv_heads =
      GENERATE(std::optional<Index>(), std::optional<Index>(2), std::optional<Index>(1));
  const bool rotary = GENERATE(false, true);
  Random random(1);
  const MultiHeadAttention<double> layer(attention_options(scoring, num_kv_heads, rotary), random);
  const auto x = random.uniform_tensor<double>({3, total, 6}, -1.0, 1.0);
  auto tape = Tape<double>::inference();
  const Var whole = tape.constant(x);
  const Tensor<double> expected = layer(whole, whole, whole, {.causal = true}).value();
  KeyValueCache<double> cache(layer.cache_options(1, 4), 3);
  const double difference = difference_in_steps(x, expected, [&](const Tensor<double>& next) {
    Tensor<double> y = layer.extend(tape.constant(next), {cache, 0}).value();
    cache.advance(next.shape()[1]);
    return y;
  });
  CHECK(difference < 1e-13);
  CHECK(cache.length(2) == total);
}

TEST_CASE("cache: many sequences and heads, so that there are several ranges", "[layers]") {
  Random random(2);
  const MultiHeadAttention<float> layer({.query_size = 64,
                                         .key_size = 64,
                                         .value_size = 64,
                                         .num_hiddens = 64,
                                         .num_heads = 8,
                                         .num_kv_heads = 4},
                                        random);
  const auto x = random.uniform_tensor<float>({20, total, 64}, -1.0, 1.0);
  Tape tape = Tape<float>::inference();
  const Var whole = tape.constant(x);
  const Tensor<float> expected = layer(whole, whole, whole, {.causal = true}).value();
  KeyValueCache<float> cache(layer.cache_options(1, 4), 20);
  CHECK(difference_in_steps(x, expected, [&](const Tensor<float>& next) {
          Tensor<float> y = layer.extend(tape.constant(next), {cache, 0}).value();
          cache.advance(next.shape()[1]);
          return y;
        }) < 1e-5);
}

TEST_CASE("cache: a Gpt extended step by step gives the logits of the whole text", "[layers]") {
  const bool modern = GENERATE(false, true);
  Random random(3);
  const Gpt<double> model(modern ? modern_gpt_options() : gpt_options(), random);
  const Tokens tokens = random_tokens(random, {2, total}, 11);
  auto tape = Tape<double>::inference();
  KeyValueCache<double> cache = model.make_cache(2, 1);
  CHECK(difference_in_steps(tokens, model(tape, tokens).value(), [&](const Tokens& next) {
          return model.logits(model.extend(tape, next, cache)).value();
        }) < 1e-12);
}

TEST_CASE("cache: sequences of different lengths have the results that each has alone",
          "[layers]") {
  const bool modern = GENERATE(false, true);
  const Index step = GENERATE(1, 3, 15);
  Random random(4);
  const Gpt<double> model(modern ? modern_gpt_options() : gpt_options(), random);
  auto tape = Tape<double>::inference();
  const std::vector<Index> lengths{5, 1, 20, 9};
  const Tokens next = random_tokens(random, {4, step}, 11);
  KeyValueCache<double> cache = model.make_cache(0);
  std::vector<Tensor<double>> expected;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    KeyValueCache<double> alone = model.make_cache(1);
    model.extend(tape, random_tokens(random, {1, lengths[i]}, 11), alone);
    cache.append(alone);
    const Tokens row({1, step}, std::span(next.data() + static_cast<Index>(i) * step,
                                          static_cast<std::size_t>(step)));
    expected.push_back(model.extend(tape, row, alone).value());
  }
  const Tensor<double> states = model.extend(tape, next, cache).value();
  for (Index i = 0; i < 4; ++i) {
    const auto row = states.values().subspan(static_cast<std::size_t>(i * step * 24),
                                             static_cast<std::size_t>(step * 24));
    CHECK(distance(Tensor<double>({1, step, 24}, row), expected[static_cast<std::size_t>(i)]) <
          1e-13);
    CHECK(cache.length(i) == lengths[static_cast<std::size_t>(i)] + step);
  }
}

TEST_CASE("cache: a decoder extended step by step equals the decoder", "[layers]") {
  const bool norm_first = GENERATE(false, true);
  const Scoring scoring = GENERATE(from_range(scorings));
  Random random(5);
  const EncoderDecoder<double> model({.source_vocabulary_size = 11,
                                      .target_vocabulary_size = 9,
                                      .max_len = total,
                                      .transformer = {.num_blocks = 2,
                                                      .num_hiddens = 8,
                                                      .ffn_num_hiddens = 16,
                                                      .num_heads = 2,
                                                      .norm_first = norm_first,
                                                      .scoring = scoring}},
                                     random);
  const Tokens source = random_tokens(random, {3, 7}, 11);
  const Tokens target = random_tokens(random, {3, total}, 9);
  const ValidLens lengths{7, 2, 5};
  auto tape = Tape<double>::inference();
  // Padding, even NaN, is not seen.
  Tensor<double> memory = model.encode(tape, source, lengths).value();
  const Tensor<double> expected = model.decode(target, tape.constant(memory), lengths).value();
  for (Index c = 0; c < 8; ++c) memory(1, 4, c) = std::numeric_limits<double>::quiet_NaN();
  DecoderCache<double> cache = model.start(tape.constant(memory), lengths);
  CHECK(difference_in_steps(target, expected, [&](const Tokens& next) {
          return model.extend(tape, next, cache).value();
        }) < 1e-12);
}

TEST_CASE("cache: selected sequences go on independently of each other", "[layers]") {
  Random random(6);
  const Gpt<double> model(gpt_options(), random);
  auto tape = Tape<double>::inference();
  const Tokens prompts = random_tokens(random, {3, 6}, 11);
  KeyValueCache<double> cache = model.make_cache(3);
  model.extend(tape, prompts, cache);
  const std::vector<Index> rows{2, 0, 2, 2};
  cache.reorder(rows);
  const Tokens next({4, 1}, {1, 2, 3, 4}), last({4, 1}, {5, 6, 7, 8});
  model.extend(tape, next, cache);
  const Tensor<double> logits = model.logits(model.extend(tape, last, cache)).value();
  for (Index i = 0; i < 4; ++i) {
    Tokens text({1, 8});
    for (Index t = 0; t < 6; ++t) text(0, t) = prompts(rows[static_cast<std::size_t>(i)], t);
    text(0, 6) = next(i, 0);
    text(0, 7) = last(i, 0);
    const Tensor<double> expected = model(tape, text).value();
    for (Index v = 0; v < 11; ++v) CHECK(std::abs(logits(i, 0, v) - expected(0, 7, v)) < 1e-12);
  }
}

TEST_CASE("cache: truncated and replaced sequences", "[layers]") {
  Random random(7);
  const Gpt<double> model(gpt_options(), random);
  auto tape = Tape<double>::inference();
  const Tokens text = random_tokens(random, {1, 30}, 11);
  const Tensor<double> expected = model(tape, text).value();
  KeyValueCache<double> cache = model.make_cache(1, 16);
  const auto extend = [&](Index begin, Index end) {
    return model.logits(model.extend(tape, part(text, begin, end), cache)).value();
  };
  extend(0, 9);
  const KeyValueCache<double> earlier = cache;
  // What is forgotten does not matter, even NaN.
  const Var nan =
      tape.constant(Tensor<double>::full({1, 5, 24}, std::numeric_limits<double>::quiet_NaN()));
  for (Index layer = 0; layer < 3; ++layer) cache.store(layer, nan, nan);
  cache.advance(5);
  cache.truncate(0, 9);
  CHECK(distance(extend(9, 10), part(expected, 9, 10)) < 1e-12);
  CHECK(distance(extend(10, 20), part(expected, 10, 20)) < 1e-12);
  cache.replace(0, earlier, 0);
  CHECK(cache.length(0) == 9);
  CHECK(distance(extend(9, 30), part(expected, 9, 30)) < 1e-12);
}

TEST_CASE("cache: a step that fails changes nothing", "[layers]") {
  Random random(8);
  const Gpt<double> model(gpt_options(), random);
  auto tape = Tape<double>::inference();
  const Tokens text = random_tokens(random, {1, 12}, 11);
  KeyValueCache<double> cache = model.make_cache(1);
  model.extend(tape, part(text, 0, 4), cache);
  // Only the first layer stores its keys and values.
  const Var nan =
      tape.constant(Tensor<double>::full({1, 9, 24}, std::numeric_limits<double>::quiet_NaN()));
  cache.store(0, nan, nan);
  CHECK(cache.length(0) == 4);
  Tensor<double> states = model.extend(tape, part(text, 4, 5), cache).value();
  states = model.extend(tape, part(text, 5, 12), cache).value();
  CHECK(distance(model.logits(tape.constant(states)).value(),
                 part(model(tape, text).value(), 5, 12)) < 1e-12);
}

TEST_CASE("cache: if one sequence cannot be advanced, none is", "[layers]") {
  KeyValueCache<float> cache({.head_size = 2}, 2);
  const Var<float> x(Tensor<float>({2, 3, 2}));
  cache.store(0, x, x);
  CHECK_THROWS_AS(cache.advance(std::vector<Index>{1, 4}), ValueError);
  CHECK(cache.largest_length() == 0);
  cache.append(KeyValueCache<float>({.head_size = 2}, 1));  // nothing is stored
  CHECK_THROWS_AS(cache.advance(2), ValueError);
  CHECK(cache.largest_length() == 0);
  cache.advance(std::vector<Index>{1, 3, 0});
  CHECK(cache.length(0) == 1);
  CHECK(cache.length(1) == 3);
  // What is stored beyond a truncated sequence is forgotten, too.
  const Var<float> further(Tensor<float>({3, 1, 2}));
  cache.store(0, further, further);
  cache.truncate(0, 1);
  CHECK_THROWS_AS(cache.advance(1), ValueError);
}

TEST_CASE("cache: what does not fit is refused", "[layers]") {
  Random random(9);
  const Gpt<float> model(gpt_options(), random);
  Tape tape = Tape<float>::inference();
  Tape<float> recording;
  KeyValueCache<float> cache = model.make_cache(2);
  const Tokens tokens({2, 1});
  CHECK_THROWS_AS(KeyValueCache<float>({.head_size = 0}), ValueError);
  CHECK_THROWS_AS(KeyValueCache<float>({.head_size = 4}, -1), ValueError);
  constexpr Index most = std::numeric_limits<Index>::max();
  CHECK_THROWS_AS(KeyValueCache<float>({.head_size = 4}, most), ValueError);
  CHECK(message_of<ValueError>([] {
          KeyValueCache<float>({.num_layers = 2, .num_heads = most, .head_size = 2});
        }) == "KeyValueCache: elements of a position: expected at most 2147483647, got " +
                  std::to_string(most));
  CHECK(message_of<ValueError>([] { KeyValueCache<float>({.head_size = 4}, 0).length(0); }) ==
        "KeyValueCache: sequence: expected an index from an empty range, got 0");
  CHECK_THROWS_AS(model.extend(tape, Tokens({3, 1}), cache), ShapeError);
  KeyValueCache<float> too_large = model.make_cache(2, std::numeric_limits<Index>::max());
  CHECK_THROWS_AS(model.extend(tape, tokens, too_large), ShapeError);
  CHECK_THROWS_AS(model.extend(tape, Tokens({2}), cache), ShapeError);
  CHECK_THROWS_AS(model.extend(tape, Tokens({2, 51}), cache), ValueError);  // positions
  CHECK(message_of<Error>([&] { model.extend(recording, tokens, cache); }) ==
        "KeyValueCache: expected an inference tape, got a recording tape");
  // Otherwise the gradients of the queries would be lost.
  const MultiHeadAttention<float>& attention = model.blocks.blocks[0].attention;
  KeyValueCache<float> memory(attention.cache_options(1, 4), 1);
  attention.store(tape.constant(Tensor<float>({1, 4, 24})), {memory, 0});
  memory.advance(4);
  for (const Index queries : {2, 20})
    CHECK(message_of<Error>([&] {
            attention.attend(recording.constant(Tensor<float>({1, queries, 24})), {memory, 0});
          }) == "KeyValueCache: expected an inference tape, got a recording tape");
  KeyValueCache<float> fewer_layers({.num_layers = 2, .num_heads = 4, .head_size = 6}, 2);
  CHECK(message_of<ValueError>([&] { model.extend(tape, tokens, fewer_layers); }) ==
        "TransformerEncoder: number of layers of the cache: expected 3, got 2");
  KeyValueCache<float> fewer_heads({.num_layers = 3, .num_heads = 2, .head_size = 12}, 2);
  CHECK(message_of<ValueError>([&] { model.extend(tape, tokens, fewer_heads); }) ==
        "MultiHeadAttention: cache: expected 4 heads of size 6, got 2 heads of size 12");
  CHECK_THROWS_AS(cache.append(fewer_heads), ValueError);
  const KeyValueCache<float> larger_heads({.num_layers = 3, .num_heads = 4, .head_size = 7}, 2);
  CHECK_THROWS_AS(cache.append(larger_heads), ValueError);
  const auto zeros = [&](Index time) { return tape.constant(Tensor<float>({2, time, 24})); };
  CHECK_THROWS_AS(cache.store(0, zeros(1), zeros(2)), ShapeError);
  CHECK_THROWS_AS(cache.replace(0, fewer_heads, 0), ValueError);
  CHECK_THROWS_AS(cache.replace(2, cache, 0), ValueError);
  CHECK_THROWS_AS(cache.reorder(std::vector<Index>{0, 2}), ValueError);
  CHECK(cache.num_sequences() == 2);
  CHECK_THROWS_AS(cache.truncate(0, 1), ValueError);
  CHECK_THROWS_AS(cache.advance(1), ValueError);  // nothing is stored
  CHECK_THROWS_AS(cache.advance(std::vector<Index>{0}), ValueError);
  CHECK_THROWS_AS(cache.length(-1), ValueError);
  model.extend(tape, Tokens({2, 50}), cache);
  CHECK_THROWS_AS(model.extend(tape, tokens, cache), ValueError);
  const MultiHeadAttention<float> rotary(attention_options(Scoring::scaled_dot_product, {}, true),
                                         random);
  KeyValueCache<float> of_rotary(rotary.cache_options(1, 8), 1);
  const Var x = tape.constant(Tensor<float>({1, 1, 6}));
  CHECK_THROWS_AS(rotary.extend(x, {of_rotary, 1}), ValueError);
  CHECK_THROWS_AS(rotary.attend(x, {of_rotary, -1}), ValueError);
  CHECK(distance(rotary.attend(x, {of_rotary, 0}).value(),
                 rotary.W_o(tape.constant(Tensor<float>({1, 1, 8}))).value()) == 0.0);  // no keys
  CHECK_THROWS_AS(rotary.store(tape.constant(Tensor<float>({1, 2, 6})), {of_rotary, 0}),
                  ValueError);
}
