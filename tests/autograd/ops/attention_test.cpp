#include <cmath>
#include <limits>
#include <span>

#include <weft/autograd/ops/arithmetic.hpp>
#include <weft/autograd/ops/attention.hpp>
#include <weft/autograd/ops/elementwise.hpp>
#include <weft/autograd/ops/matmul.hpp>
#include <weft/autograd/ops/softmax.hpp>
#include <weft/autograd/random.hpp>
#include "tests/autograd/gradient_table.hpp"
#include "tests/autograd/ops/attention_run.hpp"
#include "tests/autograd/same_bits.hpp"
#include "tests/catch.hpp"
#include "tests/compare.hpp"

namespace weft {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

bool all_finite(const Tensor<double>& x) {
  return std::all_of(x.begin(), x.end(), [](double value) { return std::isfinite(value); });
}

// The same, composed of single operations by definition, for one head.
Var<double> composed(const Var<double>& q, const Var<double>& k, const Var<double>& v,
                     const Mask& mask) {
  const auto scaled = scale(q, 1.0 / std::sqrt(static_cast<double>(q.shape()[-1])));
  const auto scores = matmul(scaled, k, {.transpose_b = true});
  return matmul(masked_softmax(scores, mask), v);
}

// Compares attention, and the gradients of queries, keys and values, with the composition, for each
// of the masks.
void check_against_composition(Parameter<double>& q, Parameter<double>& k, Parameter<double>& v,
                               const Tensor<double>& upstream, std::span<const Mask> masks) {
  const auto run = [&](const auto& attend) {
    Tape<double> tape;
    const Var<double> y = attend(tape.parameter(q), tape.parameter(k), tape.parameter(v));
    std::vector<Tensor<double>> results{y.value()};
    tape.backward(y, upstream);
    for (Parameter<double>* input : {&q, &k, &v}) {
      results.push_back(input->grad().clone());
      input->zero_grad();
    }
    return results;
  };
  for (const Mask& mask : masks) {
    const auto fused = run([&](const auto&... inputs) {
      return scaled_dot_product_attention(inputs..., {.mask = mask});
    });
    const auto expected = run([&](const auto&... inputs) { return composed(inputs..., mask); });
    CHECK(distance(fused[0], expected[0]) < 1e-14);
    for (std::size_t i = 1; i < fused.size(); ++i) CHECK(distance(fused[i], expected[i]) < 1e-13);
  }
}

}  // namespace

TEST_CASE("attention: one query and two keys, computed by hand", "[autograd]") {
  Tape<double> tape({.keep_attention_weights = true});
  // Scores 1·ln 3 and 0, so weights 3/4 and 1/4.
  const auto q = tape.constant(Tensor<double>({1, 1, 1}, {std::log(3.0)}));
  const auto k = tape.constant(Tensor<double>({1, 2, 1}, {1, 0}));
  const auto v = tape.constant(Tensor<double>({1, 2, 1}, {8, 4}));
  CHECK(scaled_dot_product_attention(q, k, v).item() == Approx(7.0));
  const Tensor<double> weights = tape.take_attention_weights().front();
  CHECK(weights.shape() == Shape{1, 1, 1, 2});
  CHECK(weights(0, 0, 0, 0) == Approx(0.75));
}

TEST_CASE(
    "attention: matches a composition of operations for every kind of mask, over several tiles",
    "[autograd]") {
  Random random(2);
  const Index batch = 2, queries = 300, size = 8;
  // One tile of keys, and several.
  const Index keys = GENERATE(90, 600);
  Parameter<double> q(random.normal_tensor<double>({batch, queries, size}));
  Parameter<double> k(random.normal_tensor<double>({batch, keys, size}));
  Parameter<double> v(random.normal_tensor<double>({batch, keys, size}));
  const auto upstream = random.normal_tensor<double>({batch, queries, size});
  const auto first_length = static_cast<std::int32_t>(keys - 10);
  Tensor<std::int32_t> lengths({batch, queries});
  for (auto& length : lengths) length = static_cast<std::int32_t>(random.below(keys + 1));
  Tensor<bool> allowed({1, queries, keys});
  for (bool& value : allowed) value = random.uniform() < 0.5;
  Tensor<bool> key_mask({batch, keys});
  for (bool& value : key_mask) value = random.uniform() < 0.5;
  Tensor<float> bias = random.normal_tensor<float>({batch, queries, keys});
  for (float& value : bias)
    if (random.uniform() < 0.3) value = -std::numeric_limits<float>::infinity();
  const Mask masks[] = {
      {},
      {.valid_lens = {first_length, 17}},
      {.valid_lens = ValidLens(lengths)},
      {.causal = true},
      {.allowed = allowed},
      {.bias = bias},
      {.window = 40},
      {.keys = key_mask},
      {.causal = true, .window = 150, .keys = key_mask},
      {.valid_lens = {first_length, 0}, .causal = true, .allowed = allowed},
      {.valid_lens = {first_length, 0}, .causal = true, .allowed = allowed, .bias = bias}};
  check_against_composition(q, k, v, upstream, masks);
}

TEST_CASE("attention: matches a composition of operations over several strips of a head",
          "[autograd]") {
  AttentionRun run = random_run(2, 2100, 1100, 2);
  const auto upstream = Random(3).normal_tensor<double>(run.q.value().shape());
  const Mask masks[] = {{}, {.valid_lens = {700, 0}}, {.causal = true}};
  check_against_composition(run.q, run.k, run.v, upstream, masks);
}

TEST_CASE("attention: dropout drops the same weights for any tile size", "[autograd]") {
  AttentionRun run = random_run(1, 300, 400, 4);
  // With weights, tiles have all keys.
  const auto attended = [&](bool with_weights) {
    Tape<double> tape({.training = true, .seed = 3, .keep_attention_weights = with_weights});
    const auto y = scaled_dot_product_attention(tape.parameter(run.q), tape.parameter(run.k),
                                                tape.parameter(run.v), {.dropout = 0.4});
    std::vector<Tensor<double>> results{y.value()};
    tape.backward(y, Tensor<double>::full(y.shape(), 1.0));
    for (Parameter<double>* input : {&run.q, &run.k, &run.v}) {
      results.push_back(input->grad().clone());
      input->zero_grad();
    }
    return results;
  };
  const auto whole = attended(true), in_tiles = attended(false);
  for (std::size_t i = 0; i < whole.size(); ++i) CHECK(distance(in_tiles[i], whole[i]) < 1e-12);
}

TEST_CASE("attention: heads are contiguous ranges of columns", "[autograd]") {
  Random random(3);
  const auto qkv = random.normal_tensor<float>({1, 5, 6});
  Tape<float> tape;
  const auto both = tape.constant(qkv);
  const auto y = scaled_dot_product_attention(both, both, both, {.num_heads = 2}).value();
  for (const Index head : {0, 1}) {
    Tensor<float> part({1, 5, 3});
    for (Index t = 0; t < 5; ++t)
      for (Index c = 0; c < 3; ++c) part(0, t, c) = qkv(0, t, head * 3 + c);
    const auto x = tape.constant(part);
    const auto alone = scaled_dot_product_attention(x, x, x).value();
    for (Index t = 0; t < 5; ++t)
      for (Index c = 0; c < 3; ++c) CHECK(y(0, t, head * 3 + c) == alone(0, t, c));
  }
}

TEST_CASE("attention: masked keys and values affect neither the result nor a gradient",
          "[autograd]") {
  const Tensor<std::int32_t> by_query({1, 3}, {1, 2, 2});
  const Tensor<bool> allowed({1, 3, 4}, {true, true, false, false, true, false, false, false,  //
                                         true, true, false, false});
  constexpr float masked = -std::numeric_limits<float>::infinity();
  const Tensor<float> bias({1, 3, 4}, {1, 2, masked, masked, -3, masked, masked, masked,  //
                                       0, 1, masked, masked});
  const Mask masks[] = {{.valid_lens = {2}},
                        {.valid_lens = ValidLens(by_query)},
                        {.keys = Tensor<bool>({1, 4}, {true, true, false, false})},
                        {.allowed = allowed},
                        {.bias = bias}};
  for (const Mask& mask : masks)
    for (const double bad : {nan, infinity}) {
      AttentionRun run = random_run(1, 3, 4, 2);
      AttentionRun clean = run;
      run.k(0, 3, 0) = bad;
      run.v(0, 2, 1) = bad;
      run.attend({.mask = mask});
      clean.attend({.mask = mask});
      REQUIRE(all_finite(run.y));
      CHECK(std::equal(run.y.begin(), run.y.end(), clean.y.begin()));
      for (const auto& [got, expected] :
           {std::pair(run.q.grad(), clean.q.grad()), std::pair(run.k.grad(), clean.k.grad()),
            std::pair(run.v.grad(), clean.v.grad())}) {
        REQUIRE(all_finite(got));
        CHECK(std::equal(got.begin(), got.end(), expected.begin()));
      }
    }
}

TEST_CASE("attention: several at once, each within a range of a loop", "[autograd]") {
  AttentionRun alone = random_run(3, 40, 50, 6);
  std::vector<AttentionRun> runs(8, alone);
  alone.attend({});
  const int threads = thread_count();
  set_thread_count(3);
  parallel_for(8, 1, [&](Index begin, Index) { runs[static_cast<std::size_t>(begin)].attend({}); });
  set_thread_count(threads);
  for (const AttentionRun& run : runs) {
    CHECK(std::equal(run.y.begin(), run.y.end(), alone.y.begin()));
    const Tensor<double> dk = run.k.grad(), expected = alone.k.grad();
    CHECK(std::equal(dk.begin(), dk.end(), expected.begin()));
  }
}

TEST_CASE("attention: a NaN propagates to the queries that attend to it", "[autograd]") {
  AttentionRun run = random_run(1, 3, 3, 2);
  run.v(0, 1, 0) = nan;
  run.attend({.mask = {.causal = true}});
  CHECK(std::isfinite(run.y(0, 0, 0)));
  CHECK(std::isnan(run.y(0, 1, 0)));
  CHECK(std::isnan(run.y(0, 2, 0)));
}

TEST_CASE("attention: a NaN in a later tile of keys propagates, but not where it is masked",
          "[autograd]") {
  const Index keys = 300, bad = 290;
  AttentionRun run = random_run(1, 3, keys, 2);
  Tensor<double> values = run.v.value().clone();
  values(0, bad, 0) = nan;
  run.v = Parameter<double>(values);
  Tensor<bool> allowed = Tensor<bool>::full({1, 3, keys}, true);
  allowed(0, 0, bad) = false;
  run.attend({.mask = {.allowed = allowed}});
  CHECK(std::isfinite(run.y(0, 0, 0)));
  CHECK(std::isnan(run.y(0, 1, 0)));
  CHECK(std::isnan(run.y(0, 2, 0)));
}

TEST_CASE("attention: a NaN of one sequence reaches its own queries only", "[autograd]") {
  // In blocks and in tiles, of several.
  for (const Index length : {10, 300}) {
    AttentionRun run = random_run(3, length, length, 2);
    const Index bad = length - 2;
    run.k(1, bad, 0) = nan;
    run.attend({.mask = {.causal = true}});
    for (Index batch = 0; batch < 3; ++batch)
      for (Index query = 0; query < length; ++query)
        REQUIRE(std::isnan(run.y(batch, query, 1)) == (batch == 1 && query >= bad));
    for (Index query = 0; query < bad; ++query) REQUIRE(std::isfinite(run.q.grad()(0, query, 0)));
  }
}

TEST_CASE("attention: a query with every key masked gets zeros and zero gradient", "[autograd]") {
  Tensor<float> bias({2, 2, 3});
  for (Index i = 0; i < 6; ++i) bias.data()[i] = -std::numeric_limits<float>::infinity();
  for (const Mask& mask : {Mask{.valid_lens = {0, 3}}, Mask{.bias = bias}}) {
    AttentionRun run = random_run(2, 2, 3, 2);
    run.attend({.mask = mask});
    for (Index query = 0; query < 2; ++query)
      for (Index c = 0; c < 2; ++c) {
        CHECK(run.y(0, query, c) == 0.0);
        CHECK(run.q.grad()(0, query, c) == 0.0);
        CHECK(run.v.grad()(0, query, c) == 0.0);
        CHECK(run.y(1, query, c) != 0.0);
      }
  }
}

TEST_CASE("attention: a bias is added to the scores, computed by hand", "[autograd]") {
  Tape<double> tape;
  // Scores 0, with ln 3 added to the second head's first: weights 1/2, 1/2 and 3/4, 1/4.
  const auto q = tape.constant(Tensor<double>({1, 1, 2}));
  const auto k = tape.constant(Tensor<double>({1, 2, 2}));
  const auto v = tape.constant(Tensor<double>({1, 2, 2}, {8, 8, 4, 4}));
  const Tensor<float> bias({1, 2, 1, 2}, {0, 0, std::log(3.0F), 0});
  const auto y =
      scaled_dot_product_attention(q, k, v, {.num_heads = 2, .mask = {.bias = bias}}).value();
  CHECK(y(0, 0, 0) == Approx(6.0));
  CHECK(y(0, 0, 1) == Approx(7.0));
}

TEST_CASE("attention: a causal result does not depend on later keys", "[autograd]") {
  AttentionRun run = random_run(1, 4, 4, 2);
  AttentionRun changed = run;
  changed.k(0, 3, 0) += 1.0;
  changed.v(0, 3, 1) += 1.0;
  run.attend({.mask = {.causal = true}});
  changed.attend({.mask = {.causal = true}});
  for (Index c = 0; c < 2; ++c) {
    for (Index query = 0; query < 3; ++query) CHECK(run.y(0, query, c) == changed.y(0, query, c));
    CHECK(run.y(0, 3, c) != changed.y(0, 3, c));
  }
}

TEST_CASE("attention: an empty batch, no queries and no keys are allowed", "[autograd]") {
  Tape<float> tape;
  const auto of = [&](Shape shape) { return tape.constant(Tensor<float>(shape)); };
  CHECK(scaled_dot_product_attention(of({0, 2, 4}), of({0, 3, 4}), of({0, 3, 4})).shape() ==
        Shape{0, 2, 4});
  CHECK(scaled_dot_product_attention(of({1, 0, 4}), of({1, 3, 4}), of({1, 3, 4})).shape() ==
        Shape{1, 0, 4});
  for (const float value :
       scaled_dot_product_attention(of({1, 2, 4}), of({1, 0, 4}), of({1, 0, 4})).value())
    CHECK(value == 0.0F);
}

TEST_CASE("attention: invalid shapes, heads, masks and dropout throw", "[autograd]") {
  Tape<float> tape;
  const auto of = [&](Shape shape) { return tape.constant(Tensor<float>(shape)); };
  const auto x = of({2, 3, 4});
  CHECK_THROWS_WITH(scaled_dot_product_attention(of({3, 4}), x, x),
                    Catch::Contains("[batch, length, size], got [3, 4], [2, 3, 4] and [2, 3, 4]"));
  CHECK_THROWS_AS(scaled_dot_product_attention(x, of({2, 3, 5}), x), ShapeError);
  CHECK_THROWS_AS(scaled_dot_product_attention(x, x, of({2, 4, 4})), ShapeError);
  CHECK_THROWS_WITH(
      scaled_dot_product_attention(x, x, x, {.num_heads = 3}),
      "scaled_dot_product_attention: num_heads: expected a positive divisor of 4 and 4, got 3");
  CHECK_THROWS_AS(scaled_dot_product_attention(x, x, x, {.num_heads = 0}), ValueError);
  CHECK_THROWS_AS(scaled_dot_product_attention(x, x, x, {.dropout = 1.5}), ValueError);
  CHECK_THROWS_AS(scaled_dot_product_attention(x, x, x, {.mask = {.valid_lens = {4, 3}}}),
                  ValueError);
  CHECK_THROWS_AS(scaled_dot_product_attention(x, x, x, {.mask = {.valid_lens = {3}}}), ShapeError);
  CHECK_THROWS_AS(
      scaled_dot_product_attention(x, x, x, {.mask = {.allowed = Tensor<bool>({3, 4})}}),
      ShapeError);
  CHECK_THROWS_WITH(
      scaled_dot_product_attention(x, x, x, {.mask = {.bias = Tensor<float>({4, 3})}}),
      "scaled_dot_product_attention: mask.bias: expected shape [2, 3, 3] or [2, 1, 3, 3], where "
      "the "
      "batch and the heads may be 1 (a mask of keys is mask.keys), got [4, 3]");
  // Not taken for one of queries and keys where there are as many of these as sequences.
  CHECK_THROWS_AS(
      scaled_dot_product_attention(x, x, x, {.mask = {.allowed = Tensor<bool>({3, 3})}}),
      ShapeError);
  CHECK_THROWS_WITH(scaled_dot_product_attention(x, x, x, {.mask = {.keys = Tensor<bool>({3, 3})}}),
                    "scaled_dot_product_attention: mask.keys: expected shape [2, 3], got [3, 3]");
  CHECK_THROWS_WITH(scaled_dot_product_attention(x, x, x, {.mask = {.window = 0}}),
                    "scaled_dot_product_attention: mask.window: expected at least 1, got 0");
  CHECK_THROWS_WITH(scaled_dot_product_attention(x, x, x, {}, of({1, 6})),
                    "scaled_dot_product_attention: position_bias: expected [1, 5], got [1, 6]");
  for (const double bad : {nan, infinity})
    CHECK_THROWS_WITH(
        scaled_dot_product_attention(
            x, x, x, {.mask = {.bias = Tensor<float>::full({1, 3, 3}, static_cast<float>(bad))}}),
        Catch::Contains("mask: expected a bias of finite numbers or -infinity, got"));
}

TEST_CASE("attention: the same bits on 1, 2, 3 and 8 threads", "[autograd]") {
  Random random(8);
  // Many heads, and strips of a few.
  const Shape shape = GENERATE(Shape{9, 70, 16}, Shape{1, 1200, 4});
  const bool has_bias = GENERATE(false, true);
  Parameter<float> q(random.normal_tensor<float>(shape)), k(q), v(q);
  Parameter<float> bias(random.normal_tensor<float>({2, 2 * shape[1] - 1}));
  check_same_bits([&] {
    Tape<float> tape({.training = true, .seed = 1});
    const auto y =
        scaled_dot_product_attention(tape.parameter(q), tape.parameter(k), tape.parameter(v),
                                     {.num_heads = 2, .mask = {.causal = true}, .dropout = 0.2},
                                     has_bias ? std::optional(tape.parameter(bias)) : std::nullopt);
    for (auto* p : {&q, &k, &v, &bias}) p->zero_grad();
    tape.backward(y, y.value());
    return std::vector<Tensor<float>>{y.value(), q.grad().clone(), k.grad().clone(),
                                      v.grad().clone(), bias.grad().clone()};
  });
}

namespace {

std::vector<GradientCase> gradient_rows() {
  const std::vector<InputValues> large{{40, 10, 8}, {40, 12, 8}, {40, 12, 12}};
  // Three tiles of queries and of keys.
  const std::vector<InputValues> tiles{{3, 520, 2}, {3, 270, 2}, {3, 270, 2}};
  return {
      {"scaled_dot_product_attention",
       "with two heads",
       {{2, 3, 4}, {2, 5, 4}, {2, 5, 6}},
       large,
       [](const auto& x) {
         return scaled_dot_product_attention(x[0], x[1], x[2], {.num_heads = 2});
       }},
      {"scaled_dot_product_attention",
       "of many queries and keys",
       {{2, 3, 4}, {2, 5, 4}, {2, 5, 4}},
       tiles,
       [](const auto& x) { return scaled_dot_product_attention(x[0], x[1], x[2]); }},
      {"scaled_dot_product_attention",
       "with blocks of queries, the last one not full",
       {{1, 3, 5}, {1, 5, 5}, {1, 5, 7}},
       {{16, 21, 5}, {16, 25, 5}, {16, 25, 7}},
       [](const auto& x) {
         return scaled_dot_product_attention(x[0], x[1], x[2],
                                             {.mask = {.causal = true}, .dropout = 0.3});
       }},
      {"scaled_dot_product_attention",
       "self-attention",
       {{2, 3, 4}},
       {{40, 12, 8}},
       [](const auto& x) {
         return scaled_dot_product_attention(x[0], x[0], x[0], {.num_heads = 2});
       }},
      {"scaled_dot_product_attention",
       "with lengths, one of them 0",
       {{3, 2, 4}, {3, 4, 4}, {3, 4, 2}},
       large,
       [](const auto& x) {
         const Shape& keys = x[1].shape();
         return scaled_dot_product_attention(
             x[0], x[1], x[2],
             {.num_heads = 2, .mask = {.valid_lens = random_lengths({keys[0]}, keys[1])}});
       }},
      {"scaled_dot_product_attention",
       "with a length for each query",
       {{2, 2, 4}, {2, 4, 4}, {2, 4, 4}},
       {{80, 10, 4}, {80, 12, 4}, {80, 12, 6}},
       [](const auto& x) {
         const Shape &queries = x[0].shape(), &keys = x[1].shape();
         return scaled_dot_product_attention(
             x[0], x[1], x[2],
             {.mask = {.valid_lens = random_lengths({queries[0], queries[1]}, keys[1])}});
       }},
      {"scaled_dot_product_attention",
       "causal, with many queries",
       {{1, 66, 2}, {1, 66, 2}, {1, 66, 2}},
       {{3, 300, 4}, {3, 300, 4}, {3, 300, 4}},
       [](const auto& x) {
         return scaled_dot_product_attention(x[0], x[1], x[2], {.mask = {.causal = true}});
       }},
      {"scaled_dot_product_attention",
       "with a boolean mask per head",
       {{1, 2, 4}, {1, 3, 4}, {1, 3, 4}},
       large,
       [](const auto& x) {
         const Shape &queries = x[0].shape(), &keys = x[1].shape();
         return scaled_dot_product_attention(
             x[0], x[1], x[2],
             {.num_heads = 2,
              .mask = {.allowed = random_allowed({keys[0], 2, queries[1], keys[1]})}});
       }},
      {"scaled_dot_product_attention",
       "with lengths and a bias, including -infinity",
       {{2, 2, 4}, {2, 3, 4}, {2, 3, 4}},
       large,
       [](const auto& x) {
         const Shape &queries = x[0].shape(), &keys = x[1].shape();
         return scaled_dot_product_attention(
             x[0], x[1], x[2],
             {.num_heads = 2,
              .mask = {.valid_lens = random_lengths({keys[0]}, keys[1]),
                       .bias = random_bias({keys[0], queries[1], keys[1]})}});
       }},
      {"scaled_dot_product_attention",
       "with dropout",
       {{2, 3, 4}, {2, 5, 4}, {2, 5, 4}},
       large,
       [](const auto& x) {
         const Shape& keys = x[1].shape();
         return scaled_dot_product_attention(
             x[0], x[1], x[2],
             {.num_heads = 2,
              .mask = {.valid_lens = random_lengths({keys[0]}, keys[1])},
              .dropout = 0.4});
       }},
      {"scaled_dot_product_attention",
       "with dropout, of many queries and keys",
       {{2, 3, 4}, {2, 5, 4}, {2, 5, 4}},
       tiles,
       [](const auto& x) {
         return scaled_dot_product_attention(x[0], x[1], x[2], {.dropout = 0.4});
       }},
      {"scaled_dot_product_attention",
       "not scaled",
       {{2, 3, 4}, {2, 5, 4}, {2, 5, 6}},
       large,
       [](const auto& x) {
         return scaled_dot_product_attention(x[0], x[1], x[2], {.num_heads = 2, .scaled = false});
       }},
      {"scaled_dot_product_attention",
       "with a position bias and dropout",
       {{2, 3, 4}, {2, 5, 4}, {2, 5, 6}, {2, 7}},
       {{1000, 10, 4}, {1000, 12, 4}, {1000, 12, 6}, {2, 21}},
       [](const auto& x) {
         return scaled_dot_product_attention(x[0], x[1], x[2], {.num_heads = 2, .dropout = 0.3},
                                             x[3]);
       }},
      {"scaled_dot_product_attention",
       "causal, with a position bias, of many queries and keys",
       {{1, 66, 2}, {1, 66, 2}, {1, 66, 2}, {2, 131}},
       {{3, 300, 4}, {3, 300, 4}, {3, 300, 4}, {2, 599}},
       [](const auto& x) {
         return scaled_dot_product_attention(x[0], x[1], x[2],
                                             {.num_heads = 2, .mask = {.causal = true}}, x[3]);
       }},
      {"scaled_dot_product_attention",
       "with no keys",
       {{1, 2, 4}, {1, 0, 4}, {1, 0, 4}},
       {{40, 10, 4}, {40, 0, 4}, {40, 0, 4}},
       [](const auto& x) { return scaled_dot_product_attention(x[0], x[1], x[2]); }},
  };
}

const GradientRows registered(gradient_rows());

}  // namespace
}  // namespace weft
