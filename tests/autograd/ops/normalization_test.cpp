#include <cmath>
#include <limits>

#include <weft/autograd/ops/arithmetic.hpp>
#include <weft/autograd/ops/normalization.hpp>
#include <weft/autograd/random.hpp>
#include "tests/autograd/gradient_table.hpp"
#include "tests/autograd/same_bits.hpp"
#include "tests/catch.hpp"
#include "tests/compare.hpp"

namespace weft {

TEMPLATE_TEST_CASE("layer norm: a row computed by hand", "[autograd]", float, double) {
  Tape<TestType> tape;
  const auto x = tape.constant(Tensor<TestType>({1, 4}, {1, 2, 3, 4}));
  const auto w = tape.constant(Tensor<TestType>({4}, {1, 1, 2, 1}));
  const auto b = tape.constant(Tensor<TestType>({4}, {0, 0, 0, 5}));
  const auto y = layer_norm(x, w, b).value();
  // Mean 2.5, variance 1.25.
  const double scale = 1.0 / std::sqrt(1.25 + 1e-5);
  CHECK(y(0, 0) == Approx(-1.5 * scale));
  CHECK(y(0, 1) == Approx(-0.5 * scale));
  CHECK(y(0, 2) == Approx(1.0 * scale));
  CHECK(y(0, 3) == Approx(1.5 * scale + 5.0));
}

TEST_CASE("layer norm: a row of equal numbers gives the bias", "[autograd]") {
  Tape<float> tape;
  const auto w = tape.constant(Tensor<float>({2}, {3, 3}));
  const auto b = tape.constant(Tensor<float>({2}, {0.5F, -1}));
  const auto y = layer_norm(tape.constant(Tensor<float>({1, 2}, {7, 7})), w, b).value();
  CHECK(y(0, 0) == 0.5F);
  CHECK(y(0, 1) == -1.0F);
}

TEMPLATE_TEST_CASE("layer norm and rms norm: rows whose squares overflow", "[autograd]", float,
                   double) {
  // A row times a large number has the same norm, and gradients divided by that number.
  const TestType large = std::sqrt(std::numeric_limits<TestType>::max());
  Random random(9);
  const auto weight = random.normal_tensor<TestType>({5});
  const auto upstream = random.normal_tensor<TestType>({3, 5});
  const auto row = random.normal_tensor<TestType>({3, 5});
  const auto run = [&](TestType factor, bool has_mean) {
    Tape<TestType> tape;
    const Var x = tape.variable(row) * factor, w = tape.variable(weight);
    const Var y = has_mean ? layer_norm(x, w, tape.constant(Tensor<TestType>({5})), 1e-30)
                           : rms_norm(x, w, 1e-30);
    std::vector<Tensor<TestType>> results = tape.gradients(y, upstream, {x, w});
    results.push_back(y.value());
    for (TestType& value : results[0].values()) value *= factor;
    return results;
  };
  for (const bool has_mean : {true, false}) {
    const auto expected = run(1, has_mean), results = run(16 * large, has_mean);
    for (std::size_t i = 0; i < results.size(); ++i)
      CHECK(distance(results[i], expected[i]) < (std::is_same_v<TestType, float> ? 1e-5 : 1e-13));
  }
}

TEST_CASE("layer norm: invalid shapes and eps throw", "[autograd]") {
  Tape<float> tape;
  const auto of = [&](Shape shape) { return tape.constant(Tensor<float>(shape)); };
  CHECK_THROWS_WITH(layer_norm(of({2, 3}), of({2}), of({3})),
                    "layer_norm: weight: expected [3] for x of shape [2, 3], got [2]");
  CHECK_THROWS_WITH(layer_norm(of({2, 3}), of({3}), of({4})),
                    "layer_norm: bias: expected [3] for x of shape [2, 3], got [4]");
  CHECK_THROWS_WITH(layer_norm(of({2, 3}), of({3}), of({3}), -1.0),
                    "layer_norm: eps: expected a number ≥ 0, got -1");
  CHECK_THROWS_AS(layer_norm(of({}), of({1}), of({1})), ShapeError);
}

TEMPLATE_TEST_CASE("normalize: large and small rows computed by hand", "[autograd]", float,
                   double) {
  Tape<TestType> tape;
  for (const double size : {1.0, 1e30, 1e-30}) {
    const auto s = static_cast<TestType>(size);
    const auto y = normalize(tape.constant(Tensor<TestType>({2, 2}, {3 * s, 4 * s, 0, -s})));
    CHECK(y.value()(0, 0) == Approx(0.6));
    CHECK(y.value()(0, 1) == Approx(0.8));
    CHECK(y.value()(1, 0) == 0);
    CHECK(y.value()(1, 1) == -1);
  }
}

TEST_CASE("normalize: zeros stay zeros and get no gradient, NaN propagates in its row",
          "[autograd]") {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  Parameter<float> x(Tensor<float>({3, 2}, {0, 0, nan, nan, 0, 2}));
  Tape<float> tape;
  const auto y = normalize(tape.parameter(x));
  tape.backward(y, Tensor<float>::full({3, 2}, 1.0F));
  for (const Index c : {0, 1}) {
    CHECK(y.value()(0, c) == 0.0F);
    CHECK(x.grad()(0, c) == 0.0F);
    CHECK(std::isnan(y.value()(1, c)));
  }
  CHECK(y.value()(2, 1) == 1.0F);
  CHECK(x.grad()(2, 0) == 0.5F);
  CHECK_THROWS_WITH(normalize(tape.constant(Tensor<float>(Shape{}))),
                    "normalize: expected at least one axis, got []");
}

TEST_CASE("layer norm: the same bits on 1, 2, 3 and 8 threads", "[autograd]") {
  Random random(5);
  Parameter<float> x(random.normal_tensor<float>({700, 60}));
  Parameter<float> weight(random.normal_tensor<float>({60})), bias(weight);
  check_same_bits([&] {
    Tape<float> tape;
    const auto y = layer_norm(tape.parameter(x), tape.parameter(weight), tape.parameter(bias));
    for (auto* p : {&x, &weight, &bias}) p->zero_grad();
    tape.backward(y, y.value());
    return std::vector<Tensor<float>>{y.value(), x.grad().clone(), weight.grad().clone(),
                                      bias.grad().clone()};
  });
}

namespace {

std::vector<GradientCase> gradient_rows() {
  return {
      {"layer_norm",
       "of rows",
       {{2, 3, 5}, {5}, {5}},
       {{10, 90, 33}, {33}, {33}},
       [](const auto& x) { return layer_norm(x[0], x[1], x[2]); }},
      {"layer_norm",
       "with a large eps",
       {{4, 3}, {3}, {3}},
       {{900, 33}, {33}, {33}},
       [](const auto& x) { return layer_norm(x[0], x[1], x[2], 0.5); }},
      {"layer_norm",
       "of no rows",
       {{0, 3}, {3}, {3}},
       {{0, 33}, {33}, {33}},
       [](const auto& x) { return layer_norm(x[0], x[1], x[2]); }},
      {"normalize",
       "of rows",
       {{2, 3, 4}},
       {{10, 90, 33}},
       [](const auto& x) { return normalize(x[0]); }},
      {"normalize",
       "of rows of one element",
       {away_from_zero({4, 1})},
       {away_from_zero({15000, 1})},
       [](const auto& x) { return normalize(x[0]); }},
  };
}

const GradientRows registered(gradient_rows());

}  // namespace
}  // namespace weft
