// RelativePositionBias: its numbers, and attention with it in all ways of computing it.
#include <cmath>

#include <weft/autograd/ops/no_grad.hpp>
#include <weft/autograd/ops/shaping.hpp>
#include <weft/layers/models/gpt.hpp>
#include <weft/layers/relative_position_bias.hpp>
#include <weft/layers/transformer_decoder.hpp>
#include <weft/layers/transformer_encoder.hpp>
#include "tests/catch.hpp"
#include "tests/compare.hpp"
#include "tests/golden/torch_row.hpp"
#include "tests/layers/check_gradients.hpp"
#include "tests/layers/scorings.hpp"
#include "tests/messages.hpp"

using namespace weft;

namespace {

using Bias = RelativePositionBiasOptions;

// With buckets whose numbers differ as those of a trained model do.
template <class T>
RelativePositionBias<T> trained(const Bias& options) {
  Random random(3);
  RelativePositionBias<T> bias(options, random);
  if (bias.weight) bias.weight->set_value(random.normal_tensor<T>(bias.weight->shape()));
  return bias;
}

// By distance as the bias of a mask, [1, heads, queries, keys].
Tensor<float> as_mask(const Tensor<double>& bias, Index queries, Index keys) {
  const Index heads = bias.shape()[0];
  Tensor<float> mask({1, heads, queries, keys});
  for (Index h = 0; h < heads; ++h)
    for (Index q = 0; q < queries; ++q)
      for (Index k = 0; k < keys; ++k)
        mask(0, h, q, k) = static_cast<float>(bias(h, queries - 1 + k - q));
  return mask;
}

TransformerOptions stack_options(const Bias& bias) {
  return {.num_blocks = 2,
          .num_hiddens = 8,
          .ffn_num_hiddens = 6,
          .num_heads = 4,
          .num_kv_heads = 2,
          .position_bias = bias};
}

}  // namespace

TEST_CASE("position bias: the buckets of T5", "[layers]") {
  Random random(1);
  const RelativePositionBias<float> both({}, random), causal({.bidirectional = false}, random);
  // Half of 32 buckets for each direction, of which 8 have single distances; 8 + ⌊8 log₁₆(n / 8)⌋.
  const std::pair<Index, Index> of_both[] = {
      {0, 0},    {-1, 1},  {1, 17},   {-7, 7},   {-8, 8},  {8, 24},   {-11, 8},   {-12, 9},
      {-16, 10}, {16, 26}, {-32, 12}, {-64, 14}, {91, 31}, {-90, 14}, {-5000, 15}};
  for (const auto& [distance, bucket] : of_both) {
    CAPTURE(distance);
    CHECK(both.bucket(distance) == bucket);
  }
  // 16 have single distances; 16 + ⌊16 log₈(n / 16)⌋. Keys after the query count as at its
  // position.
  const std::pair<Index, Index> of_causal[] = {{3, 0},    {0, 0},     {-15, 15},  {-16, 16},
                                               {-19, 17}, {-113, 31}, {-112, 30}, {-900, 31}};
  for (const auto& [distance, bucket] : of_causal) {
    CAPTURE(distance);
    CHECK(causal.bucket(distance) == bucket);
  }
}

TEST_CASE("position bias: the slopes of ALiBi", "[layers]") {
  Tape<double> tape = Tape<double>::inference();
  Random random(1);
  // The number of heads is a power of two, and is not.
  const auto of = [&](Index heads) {
    return RelativePositionBias<double>({.num_heads = heads, .alibi = true}, random)(tape, 2, 3)
        .value();
  };
  const Tensor<double> four = of(4), three = of(3);
  REQUIRE(four.shape() == Shape{4, 4});
  for (Index i = 0; i < 4; ++i)  // distances -2, -1, 0, 1
    CHECK(four(0, i) == -0.25 * std::abs(static_cast<double>(i - 2)));
  CHECK(four(3, 0) == -2.0 / 256);
  CHECK(three(0, 1) == -1.0 / 16);
  CHECK(three(1, 1) == -1.0 / 256);
  CHECK(three(2, 1) == -1.0 / 4);
  CHECK(named_parameters<double>(RelativePositionBias<double>({.alibi = true}, random)).empty());
}

TEST_CASE("position bias: attention with it equals attention with a mask's bias", "[layers]") {
  const Scoring scoring = GENERATE(from_range(scorings));
  const auto [queries, keys] =
      GENERATE(table<Index, Index>({{5, 5}, {3, 7}, {40, 64}, {300, 200}}));
  const bool causal = GENERATE(false, true);
  if (scoring != Scoring::scaled_dot_product && scoring != Scoring::dot_product && queries > 50)
    return;
  CAPTURE(to_string(scoring), queries, keys, causal);
  Random random(2);
  const AttentionPooling<double> attention(
      {.scoring = scoring,
       .num_heads = 2,
       .additive = {.query_size = 3, .key_size = 3, .num_hiddens = 4}},
      random);
  Tape<double> tape = Tape<double>::inference();
  const auto input = [&](Index time) {
    return tape.constant(random.normal_tensor<double>({2, time, 6}));
  };
  const Var<double> q = input(queries), k = input(keys), v = input(keys);
  const Var<double> bias = trained<double>({.num_heads = 2})(tape, queries, keys);
  Mask mask{.valid_lens = {static_cast<std::int32_t>(keys - 2), 3}, .causal = causal};
  const Tensor<double> y = attention(q, k, v, mask, bias).value();
  const Tensor<float> whole = as_mask(bias.value(), queries, keys);
  mask.bias = Tensor<float>({2, 2, queries, keys});
  for (Index b = 0; b < 2; ++b)
    std::copy(whole.begin(), whole.end(), mask.bias.data() + b * whole.size());
  CHECK(distance(y, attention(q, k, v, mask).value()) < 1e-6);  // a mask is in single precision
  CHECK_THROWS_AS(attention(q, k, v, mask, tape.constant(Tensor<double>({2, 4}))), ShapeError);
}

TEST_CASE("position bias: a stack extended step by step equals the stack", "[layers]") {
  TransformerOptions options = stack_options(GENERATE(
      Bias{.num_buckets = 8, .max_distance = 12, .bidirectional = false}, Bias{.alibi = true}));
  options.scoring = GENERATE(Scoring::dot_product, Scoring::scaled_dot_product, Scoring::gaussian);
  options.window = GENERATE(std::optional<Index>(), std::optional<Index>(6));
  Random random(4);
  TransformerEncoder<double> stack(options, random);
  if (stack.position_bias->weight)
    stack.position_bias->weight->set_value(random.normal_tensor<double>({8, 4}));
  // Of the first sequence, the cache forgets positions 5 … 9 before the last steps, where sequences
  // have other lengths: one by one, and more than are computed one by one.
  const Index total = 28, forgotten = 5, begin = 10;
  const Tensor<double> x = random.normal_tensor<double>({2, total, 8});
  const auto part = [&](Index from, Index to) {
    return no_grad([&](const auto& all) { return slice(all, 1, from, to); }, x);
  };
  Tape<double> tape = Tape<double>::inference();
  const auto whole = [&](const Tensor<double>& all) {
    return stack(tape.constant(all), {.causal = true}).value();
  };
  KeyValueCache<double> cache = stack.make_cache(2, 2);
  const Tensor<double> expected = whole(x);
  double worst = 0.0;
  for (const auto& [from, to] : {std::pair<Index, Index>{0, 4}, {4, 5}, {5, begin}}) {
    const Tensor<double> y = stack.extend(tape.constant(part(from, to)), cache).value();
    for (Index b = 0; b < 2; ++b)
      for (Index t = from; t < to; ++t)
        for (Index c = 0; c < 8; ++c)
          worst = std::max(worst, std::abs(y(b, t - from, c) - expected(b, t, c)));
  }
  CHECK(worst < 1e-12);
  cache.truncate(0, begin - forgotten);
  Tensor<double> shorter({1, total - forgotten, 8});
  for (Index t = 0; t < total - forgotten; ++t)
    for (Index c = 0; c < 8; ++c)
      shorter(0, t, c) = x(0, t < begin - forgotten ? t : t + forgotten, c);
  const Tensor<double> expected_shorter = whole(shorter);
  for (const auto& [from, to] : {std::pair<Index, Index>{begin, 11}, {11, 25}, {25, total}}) {
    const Tensor<double> y = stack.extend(tape.constant(part(from, to)), cache).value();
    for (Index t = from; t < to; ++t)
      for (Index c = 0; c < 8; ++c) {
        worst =
            std::max(worst, std::abs(y(0, t - from, c) - expected_shorter(0, t - forgotten, c)));
        worst = std::max(worst, std::abs(y(1, t - from, c) - expected(1, t, c)));
      }
  }
  CHECK(worst < 1e-12);
}

TEST_CASE("gradients: a stack with one position bias for all blocks",
          "[layers][gradients][RelativePositionBias]") {
  Random random(5);
  TransformerOptions options = stack_options({.num_buckets = 6, .max_distance = 4});
  options.recompute = GENERATE(false, true);
  options.scoring = GENERATE(Scoring::dot_product, Scoring::gaussian);
  TransformerEncoder<double> encoder(options, random);
  check_gradients(encoder, {{2, 5, 8}}, [&](Tape<double>&, const Vars& x) {
    return encoder(x[0], ValidLens{5, 3});
  });
  options.num_kv_heads.reset();
  TransformerDecoder<double> decoder(options, random);
  check_gradients(decoder, {{2, 4, 8}, {2, 3, 8}},
                  [&](Tape<double>&, const Vars& x) { return decoder(x[0], x[1]); });
}

TEMPLATE_TEST_CASE("self-attention with T5's position bias in torch",
                   "[golden][RelativePositionBias]", float, double) {
  struct Attention : Module<TestType> {
    Attention(bool bidirectional, Random& random)
        : attention({.query_size = 6,
                     .key_size = 6,
                     .value_size = 6,
                     .num_hiddens = 6,
                     .num_heads = 2,
                     .scoring = Scoring::dot_product},
                    random),
          position_bias(
              {.num_heads = 2, .num_buckets = 8, .max_distance = 9, .bidirectional = bidirectional},
              random) {}
    void members(Members<TestType>& members) const override {
      members("attention", attention);
      members("position_bias", position_bias);
    }
    Var<TestType> operator()(const Var<TestType>& x, const Mask& mask) const {
      const Index time = x.shape()[1];
      return attention(x, x, x, mask, position_bias(x.tape(), time, time));
    }
    MultiHeadAttention<TestType> attention;
    RelativePositionBias<TestType> position_bias;
  };
  Random random(1);
  Attention encoder(true, random), decoder(false, random);
  golden::compare_with_torch<TestType>("RelativeAttention(8, 9, bidirectional=True)", {{2, 13, 6}},
                                       encoder, [&](const auto& x) { return encoder(x[0], {}); });
  golden::compare_with_torch<TestType>(
      "RelativeAttention(8, 9, bidirectional=False)", {{2, 13, 6}}, decoder,
      [&](const auto& x) { return decoder(x[0], {.causal = true}); });
}

TEST_CASE("position bias: options and sizes are checked", "[layers]") {
  Random random(1);
  const auto refused = [&](const Bias& options) {
    return message_of<ValueError>([&] { RelativePositionBias<float>(options, random); });
  };
  CHECK(refused({.num_heads = 0}) ==
        "RelativePositionBias: num_heads: expected a number > 0, got 0");
  CHECK(refused({.num_buckets = 3}) ==
        "RelativePositionBias: num_buckets: expected a number ≥ 4, got 3");
  CHECK(refused({.num_buckets = 1, .bidirectional = false}) ==
        "RelativePositionBias: num_buckets: expected a number ≥ 2, got 1");
  CHECK(refused({.num_buckets = -8}) ==
        "RelativePositionBias: num_buckets: expected a number ≥ 4, got -8");
  CHECK(refused({.max_distance = 8}) ==
        "RelativePositionBias: max_distance: expected a number > 8, got 8");
  Tape<float> tape;
  const RelativePositionBias<float> bias({}, random);
  CHECK_THROWS_AS(bias(tape, -1, 3), ValueError);
  CHECK(bias(tape, 0, 0).shape() == Shape{1, 0});
  const MultiHeadAttention<float> attention(
      {.query_size = 4, .key_size = 4, .value_size = 4, .num_hiddens = 4, .num_heads = 2}, random);
  auto inference = Tape<float>::inference();
  KeyValueCache<float> cache(attention.cache_options(1, 2), 1);
  const Var<float> x = inference.constant(Tensor<float>({1, 3, 4}));
  (void)attention.extend(x, {cache, 0});
  cache.advance(3);
  const auto wrong = inference.constant(Tensor<float>({2, 5}));
  CHECK(message_of<ShapeError>([&] {
          (void)attention.extend(x, {cache, 0}, wrong);
        }) == "cached_attention: position_bias: expected [2, 8], got [2, 5]");
}
