#include <cmath>

#include <weft/layers/linear.hpp>
#include "tests/catch.hpp"
#include "tests/compare.hpp"
#include "tests/messages.hpp"

using namespace weft;

TEST_CASE("linear layer: computes x · weightᵀ + bias", "[layers]") {
  Random random(1);
  Linear layer({.in_features = 3, .out_features = 2}, random);
  layer.weight.set_value(Tensor<float>({2, 3}, {1, 2, 3, -1, 0, 1}));
  layer.bias->set_value(Tensor<float>({2}, {0.5f, -2}));
  Tape tape;
  const Var x = tape.constant(Tensor<float>({1, 2, 3}, {1, 1, 1, 2, 0, -1}));
  CHECK(same(layer(x).value(), Tensor<float>({1, 2, 2}, {6.5f, -2, -0.5f, -5})));
  CHECK(same(layer(x, Activation::relu).value(), Tensor<float>({1, 2, 2}, {6.5f, 0, 0, 0})));
  layer.bias.reset();
  CHECK(same(layer(x).value(), Tensor<float>({1, 2, 2}, {6, 0, -1, -3})));
}

TEST_CASE("linear layer: initialized uniformly over ±1/√in_features", "[layers]") {
  Random random(2);
  const Linear<double> layer({.in_features = 64, .out_features = 50}, random);
  const double bound = 1.0 / 8.0;
  double sum = 0.0, squares = 0.0;
  bool within = true;
  for (double w : layer.weight.value()) {
    within &= std::abs(w) <= bound;
    sum += w;
    squares += w * w;
  }
  for (double b : layer.bias->value()) within &= std::abs(b) <= bound;
  CHECK(within);
  CHECK(std::abs(sum / 3200) < 0.005);
  CHECK(std::abs(squares / 3200 - bound * bound / 3) < 0.03 * bound * bound / 3);
}

TEST_CASE("linear layer: the same seed gives the same parameters", "[layers]") {
  Random first(5), second(5);
  const LinearOptions options{.in_features = 4, .out_features = 3};
  const Linear a(options, first), b(options, second), c(options, second);
  CHECK(same(a.weight.value(), b.weight.value()));
  CHECK_FALSE(same(a.weight.value(), c.weight.value()));
}

TEST_CASE("linear layer: invalid arguments throw", "[layers]") {
  Random random(1);
  CHECK(message_of<ValueError>([&] { Linear({.out_features = 2}, random); }) ==
        "Linear: in_features: expected a number > 0, got 0");
  CHECK(message_of<ValueError>([&] { Linear({.in_features = 2, .out_features = -1}, random); }) ==
        "Linear: out_features: expected a number > 0, got -1");
  const Linear layer({.in_features = 3, .out_features = 2}, random);
  Tape tape;
  const std::string message = message_of<ShapeError>([&] {
    layer(tape.constant(Tensor<float>({4, 5})));
  });
  CHECK(contains(message, "[4, 5]"));
  CHECK(contains(message, "[2, 3]"));
}
