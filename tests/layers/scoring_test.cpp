// Scoring functions, and AttentionPooling with each of them.
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include <weft/layers.hpp>
#include "tests/catch.hpp"
#include "tests/compare.hpp"
#include "tests/layers/scorings.hpp"
#include "tests/messages.hpp"

using namespace weft;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// Attention of `num_heads` heads of `size` each.
template <class T>
AttentionPooling<T> pooling_by(Scoring scoring, Index size, Index num_heads = 1) {
  Random random(4);
  return {{.scoring = scoring,
           .num_heads = num_heads,
           .additive = {.query_size = size, .key_size = size, .num_hiddens = 5}},
          random};
}

}  // namespace

TEST_CASE("scoring: scores of a query and two keys", "[layers]") {
  Tape<double> tape;
  const Var q = tape.constant(Tensor<double>({1, 1, 2}, {3, 4}));
  const Var k = tape.constant(Tensor<double>({1, 2, 2}, {1, 2, 0, -2}));
  const std::map<Scoring, std::array<double, 2>> expected = {
      {Scoring::dot_product, {11, -8}},
      {Scoring::scaled_dot_product, {11 / std::sqrt(2.0), -8 / std::sqrt(2.0)}},
      {Scoring::gaussian, {-4, -22.5}},  // differences (2, 2) and (3, 6)
      {Scoring::laplacian, {-4, -9}},
      {Scoring::cosine, {11 / (5 * std::sqrt(5.0)), -0.8}},
  };
  for (const auto& [scoring, name] : scoring_names) {
    if (scoring == Scoring::additive) continue;
    INFO(name);
    REQUIRE(expected.contains(scoring));
    CHECK(distance(scores(scoring, q, k).value(),
                   Tensor<double>({1, 1, 2}, std::span<const double>(expected.at(scoring)))) <
          1e-15);
  }
}

TEST_CASE("scoring: additive scores by hand", "[layers]") {
  Tape<double> tape;
  const Var q = tape.constant(Tensor<double>({1, 1, 2}, {3, 4}));
  Random random(1);
  AdditiveScoring<double> additive({.query_size = 2, .key_size = 1, .num_hiddens = 2}, random);
  additive.W_q.weight.set_value(Tensor<double>({2, 2}, {1, 0, 0, 0.5}));
  additive.W_k.weight.set_value(Tensor<double>({2, 1}, {-1, 2}));
  additive.w_v.weight.set_value(Tensor<double>({1, 2}, {10, 1}));
  const Var numbers = tape.constant(Tensor<double>({1, 2, 1}, {3, -1}));
  // W_q q = (3, 2), W_k k = (-3, 6) and (1, -2).
  const Tensor<double> expected({1, 1, 2}, {std::tanh(8.0), 10 * std::tanh(4.0)});
  CHECK(distance(additive(q, numbers).value(), expected) < 1e-15);
}

TEST_CASE("scoring: three equal keys get a weight of a third each", "[layers]") {
  const Scoring scoring = GENERATE(from_range(scorings));
  INFO(to_string(scoring));
  const auto attention = pooling_by<float>(scoring, 2);
  Tape<float> tape({.recording = false, .keep_attention_weights = true});
  const Var query = tape.constant(Tensor<float>({1, 1, 2}, {1, 0}));
  const Var keys = tape.constant(Tensor<float>::full({1, 3, 2}, 1.0F));
  const Var y = attention(query, keys, tape.constant(Tensor<float>({1, 3, 1}, {3, 6, 9})));
  const Tensor<float> weights = tape.take_attention_weights().front();
  for (const float weight : weights) CHECK(weight == 1.0F / 3.0F);
  CHECK(weights.shape() == Shape{1, 1, 1, 3});
  CHECK(y.item() == Approx(6.0));
}

TEST_CASE("scoring: d2l.ai's example of additive attention, queries and keys of other sizes",
          "[layers]") {
  Random random(1);
  const AttentionPooling attention(
      {.scoring = Scoring::additive,
       .dropout = 0.1,
       .additive = {.query_size = 20, .key_size = 2, .num_hiddens = 8}},
      random);
  Tensor<float> values({2, 10, 4});
  for (Index i = 0; i < values.size(); ++i) values.data()[i] = static_cast<float>(i % 40);
  Tape tape = Tape<float>::inference();
  const Var y = attention(tape.constant(random.normal_tensor<float>({2, 1, 20})),
                          tape.constant(Tensor<float>::full({2, 10, 2}, 1.0F)),
                          tape.constant(values), ValidLens{2, 6});
  CHECK(distance(y.value(), Tensor<double>({2, 1, 4}, {2, 3, 4, 5, 10, 11, 12, 13})) < 1e-6);
}

TEST_CASE("scoring: the cosine score of a zero vector is 0, and so is its gradient", "[layers]") {
  Parameter<double> queries(Tensor<double>({1, 2, 2}, {0, 0, 1, 2}));
  Parameter<double> keys(Tensor<double>({1, 2, 2}, {0, 0, 3, 1}));
  Tape<double> tape;
  const Var y = scores(Scoring::cosine, tape.parameter(queries), tape.parameter(keys));
  CHECK(y.value()(0, 0, 0) == 0.0);
  CHECK(y.value()(0, 0, 1) == 0.0);
  CHECK(y.value()(0, 1, 0) == 0.0);
  CHECK(y.value()(0, 1, 1) == Approx(1 / std::sqrt(2.0)));
  tape.backward(y, Tensor<double>::full({1, 2, 2}, 1.0));
  for (const auto* x : {&queries, &keys})
    for (Index c = 0; c < 2; ++c) {
      CHECK(x->grad()(0, 0, c) == 0.0);
      CHECK(std::isfinite(x->grad()(0, 1, c)));
    }
}

TEST_CASE("attention pooling: every kind of mask hides the same keys, for every scoring function",
          "[layers]") {
  const Scoring scoring = GENERATE(from_range(scorings));
  INFO(to_string(scoring));
  const auto attention = pooling_by<double>(scoring, 2, 2);
  Random random(2);
  Tape<double> tape;
  const Var q = tape.constant(random.normal_tensor<double>({2, 3, 4}));
  const Var k = tape.constant(random.normal_tensor<double>({2, 3, 4}));
  const Var v = tape.constant(random.normal_tensor<double>({2, 3, 2}));
  const ValidLens by_query(Tensor<std::int32_t>({2, 3}, {1, 2, 3, 1, 2, 3}));
  const Tensor<bool> seen({1, 3, 3}, {true, false, false, true, true, false, true, true, true});
  Tensor<float> added({1, 3, 3});
  for (Index i = 0; i < 9; ++i)
    added.data()[i] = seen.data()[i] ? 0.0F : -std::numeric_limits<float>::infinity();
  const Var causal = attention(q, k, v, {.causal = true});
  for (const Mask& mask : {Mask(by_query), Mask{.allowed = seen}, Mask{.bias = added}})
    CHECK(distance(attention(q, k, v, mask).value(), causal.value()) < 1e-15);

  const Var by_sequence = attention(q, k, v, ValidLens{2, 0});
  const Var of_two = attention(q, slice(k, 1, 0, 2), slice(v, 1, 0, 2));
  CHECK(distance(slice(by_sequence, 0, 0, 1).value(), slice(of_two, 0, 0, 1).value()) < 1e-15);
  CHECK(same(slice(by_sequence, 0, 1, 2).value(), Tensor<double>({1, 3, 2})));
}

TEST_CASE("attention pooling: a NaN affects only the queries that attend to it", "[layers]") {
  const Scoring scoring = GENERATE(from_range(scorings));
  INFO(to_string(scoring));
  const auto attention = pooling_by<double>(scoring, 2);
  Random random(2);
  const auto q = random.normal_tensor<double>({1, 3, 2}),
             k = random.normal_tensor<double>({1, 3, 2}),
             v = random.normal_tensor<double>({1, 3, 2});
  const auto attend = [&](const Tensor<double>& keys, const Tensor<double>& values) {
    Tape<double> tape = Tape<double>::inference();
    return attention(tape.constant(q), tape.constant(keys), tape.constant(values), {.causal = true})
        .value();
  };
  const Tensor<double> clean = attend(k, v);
  Tensor<double> bad_keys = k.clone(), bad_values = v.clone();
  bad_keys(0, 1, 0) = not_a_number;
  bad_values(0, 1, 1) = std::numeric_limits<double>::infinity();
  for (const Tensor<double>& y : {attend(bad_keys, v), attend(k, bad_values)})
    for (Index c = 0; c < 2; ++c) {
      CHECK(y(0, 0, c) == clean(0, 0, c));
      CHECK_FALSE(std::isfinite(y(0, 1, 1)));
      CHECK_FALSE(std::isfinite(y(0, 2, 1)));
    }
}

TEST_CASE("attention pooling: invalid arguments throw", "[layers]") {
  Random random(1);
  const auto refused = [&](const AttentionPoolingOptions& options) {
    return message_of<ValueError>([&] { AttentionPooling(options, random); });
  };
  CHECK(refused({.num_heads = 0}) == "AttentionPooling: num_heads: expected a number > 0, got 0");
  CHECK(contains(refused({.dropout = 2.0}), "got 2"));
  CHECK(contains(refused({.scoring = Scoring::additive}), "expected a number > 0, got 0"));

  Tape<double> tape;
  const auto zeros = [&](Shape shape) { return tape.constant(Tensor<double>(shape)); };
  const Var x = zeros({2, 3, 4});
  for (const Scoring scoring : scorings) {
    INFO(to_string(scoring));
    const auto attention = pooling_by<double>(scoring, 2, 2);
    CHECK_THROWS_AS(attention(x, zeros({2, 3, 6}), x), ShapeError);
    CHECK_THROWS_AS(attention(x, x, zeros({2, 4, 4})), ShapeError);
    CHECK_THROWS_AS(attention(x, zeros({1, 3, 4}), x), ShapeError);
    CHECK_THROWS_AS(attention(zeros({3, 4}), x, x), ShapeError);
    CHECK_THROWS_AS(attention(x, x, zeros({2, 3, 3})), ValueError);
    CHECK_THROWS_AS(attention(x, x, x, ValidLens{4, 1}), ValueError);
    CHECK_THROWS_AS(attention(x, x, x, ValidLens{1}), ShapeError);
  }
  CHECK(message_of<ShapeError>([&] {
          scores(Scoring::gaussian, x, zeros({2, 3, 5}));
        }) ==
        "gaussian_scores: expected queries [batch, num_queries, size] and keys [batch, num_keys, "
        "size], got [2, 3, 4] and [2, 3, 5]");
}

TEST_CASE("attention pooling: its scoring function cannot be changed, nor contradict its layers",
          "[layers]") {
  const auto can_change = [](auto& pooling) {
    return requires { pooling.scoring = Scoring::additive; }
    || requires { pooling.additive.reset(); }
    || requires { pooling.additive().reset(); };
  };
  AttentionPooling<float> changeable = pooling_by<float>(Scoring::cosine, 2);
  CHECK_FALSE(can_change(changeable));
  Random random(1);
  for (const auto& [scoring, name] : scoring_names) {
    const AttentionPooling<float> pooling = pooling_by<float>(scoring, 2);
    CHECK(pooling.scoring() == scoring);
    CHECK(pooling.additive().has_value() == (scoring == Scoring::additive));
  }
  CHECK_THROWS_AS((AttentionPooling<float>({.scoring = static_cast<Scoring>(17)}, random)),
                  ValueError);
}

TEST_CASE("scoring: additive scores need a layer, and pairs of sequences", "[layers]") {
  Random random(1);
  Tape<double> tape;
  const Var queries = tape.constant(Tensor<double>({2, 3, 4}));
  const Var keys = tape.constant(Tensor<double>({1, 3, 4}));
  CHECK(message_of<ValueError>([&] { (void)scores(Scoring::additive, queries, queries); }) ==
        "scores: expected a scoring function without parameters, got additive");
  const AdditiveScoring<double> scoring({.query_size = 4, .key_size = 4, .num_hiddens = 2}, random);
  CHECK(message_of<ShapeError>([&] { (void)scoring(queries, keys); }) ==
        "AdditiveScoring: expected queries and keys of the same batch size, got [2, 3, 4] and "
        "[1, 3, 4]");
}

TEST_CASE("attention pooling: dropout drops weights on a training tape", "[layers]") {
  const Scoring scoring = GENERATE(from_range(scorings));
  INFO(to_string(scoring));
  Random random(1);
  AttentionPooling<double> attention = pooling_by<double>(scoring, 2);
  attention.dropout.p = 1.0;
  const Tensor<double> x = random.normal_tensor<double>({1, 3, 2});
  Tape<double> training({.training = true, .keep_attention_weights = true}), evaluation;
  const Var y = training.constant(x), z = evaluation.constant(x);
  CHECK(same(attention(y, y, y).value(), Tensor<double>({1, 3, 2})));
  CHECK(training.take_attention_weights().front()(0, 0, 0, 0) > 0.0);
  CHECK_FALSE(same(attention(z, z, z).value(), Tensor<double>({1, 3, 2})));
}
