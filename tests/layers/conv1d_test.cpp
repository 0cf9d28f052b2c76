#include <cmath>
#include <limits>

#include <weft/autograd/ops/reductions.hpp>
#include <weft/autograd/ops/shaping.hpp>
#include <weft/layers/conv1d.hpp>
#include <weft/layers/summary.hpp>
#include "tests/catch.hpp"
#include "tests/compare.hpp"
#include "tests/messages.hpp"

using namespace weft;

TEST_CASE("convolution: multiplies each window by the weight", "[layers]") {
  Random random(1);
  Conv1d layer({.in_channels = 2, .out_channels = 1, .kernel_size = 2}, random);
  // 1 and 10 for the first position's channels, 100 and 1000 for the second's.
  layer.weight.set_value(Tensor<float>({1, 2, 2}, {1, 100, 10, 1000}));
  layer.bias->set_value(Tensor<float>({1}, {0.5F}));
  Tape tape;
  const Var x = tape.constant(Tensor<float>({1, 3, 2}, {1, 2, 3, 4, 5, 6}));
  CHECK(same(layer(x).value(), Tensor<float>({1, 2, 1}, {4321.5F, 6543.5F})));
  layer.bias.reset();
  CHECK(same(layer(x).value(), Tensor<float>({1, 2, 1}, {4321, 6543})));
}

TEST_CASE("convolution: with causal padding, results do not depend on later inputs", "[layers]") {
  Random random(1);
  const Conv1d<double> layer({.in_channels = 2,
                              .out_channels = 3,
                              .kernel_size = 3,
                              .padding = Padding::causal,
                              .dilation = 2},
                             random);
  Tape<double> tape;
  Tensor<double> values = random.normal_tensor<double>({1, 8, 2});
  const Tensor<double> before = layer(tape.constant(values)).value();
  CHECK(before.shape() == Shape{1, 8, 3});
  const Tensor<double> first =
      layer(tape.constant(Tensor<double>({1, 5, 2}, values.values().subspan(0, 10)))).value();
  CHECK(distance(slice(tape.constant(before), 1, 0, 5).value(), first) < 1e-15);
}

TEST_CASE("convolution: a padded sequence gives the results of the sequence alone", "[layers]") {
  Random random(1);
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  Conv1d<double> layer(
      {.in_channels = 2, .out_channels = 3, .kernel_size = 3, .padding = Padding::same}, random);
  Tensor<double> values = random.normal_tensor<double>({2, 6, 2});
  for (Index t = 4; t < 6; ++t) values(1, t, 0) = values(1, t, 1) = nan;
  Parameter<double> x(values);
  Tape<double> tape;
  const Var y = layer(tape.parameter(x), ValidLens{6, 4});
  const Var alone = layer(tape.constant(Tensor<double>({1, 4, 2}, values.values().subspan(12, 8))));
  const Var second = slice(slice(y, 0, 1, 2), 1, 0, 4);
  CHECK(distance(second.value(), alone.value()) < 1e-15);
  tape.backward(sum(y));
  for (const auto& [name, parameter] : named_parameters<double>(layer))
    for (const double gradient : parameter->grad()) CHECK(std::isfinite(gradient));
  CHECK(std::isfinite(x.grad()(1, 3, 0)));
  CHECK(x.grad()(1, 4, 0) == 0.0);
}

TEST_CASE(
    "convolution: initialized uniformly over ±1/√(in_channels · kernel_size), printed as PyTorch's",
    "[layers]") {
  Random random(2);
  Conv1d<double> layer({.in_channels = 20, .out_channels = 50, .kernel_size = 5}, random);
  double squares = 0.0;
  bool within = true;
  for (const double w : layer.weight.value()) {
    within &= std::abs(w) <= 0.1;
    squares += w * w;
  }
  for (const double b : layer.bias->value()) within &= std::abs(b) <= 0.1;
  CHECK(within);
  CHECK(std::abs(squares / 5000 * 3 / 0.01 - 1) < 0.05);
  CHECK(layer.weight.shape() == Shape{50, 20, 5});
  CHECK(contains(str_cat(layer),
                 "Conv1d(20, 50, kernel_size=5, stride=1, padding=(0, 0), dilation=1, bias=True)"));
}

TEST_CASE("convolution: the outputs of a group depend on the inputs of the group", "[layers]") {
  Random random(1);
  Conv1d layer({.in_channels = 4, .out_channels = 2, .kernel_size = 1, .groups = 2}, random);
  layer.weight.set_value(Tensor<float>({2, 2, 1}, {1, 10, 100, 1000}));
  layer.bias->set_value(Tensor<float>({2}, {0.5F, 0}));
  Tape tape;
  const Var x = tape.constant(Tensor<float>({1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}));
  CHECK(same(layer(x).value(), Tensor<float>({1, 2, 2}, {21.5F, 4300, 65.5F, 8700})));
  CHECK(contains(str_cat(layer),
                 "Conv1d(4, 2, kernel_size=1, stride=1, padding=(0, 0), "
                 "dilation=1, groups=2, bias=True)"));
}

TEST_CASE("conv1d: sizes larger than a shape can be throw", "[layers]") {
  Random random(1);
  constexpr Index huge = Index{1} << 62;
  const auto refuse = [&](const Conv1dOptions& options) {
    CHECK_THROWS_AS(Conv1d<float>(options, random), ShapeError);
  };
  refuse({.in_channels = 1, .out_channels = 1, .kernel_size = 3, .padding = huge});
  for (const std::variant<Index, Padding> padding :
       {std::variant<Index, Padding>(0), {Padding::same}, {Padding::causal}})
    refuse({.in_channels = 1,
            .out_channels = 1,
            .kernel_size = 3,
            .padding = padding,
            .dilation = huge});
  refuse({.in_channels = huge, .out_channels = 1, .kernel_size = 4});
}

TEST_CASE("convolution: invalid arguments throw", "[layers]") {
  Random random(1);
  const Conv1dOptions good{.in_channels = 2, .out_channels = 3, .kernel_size = 3};
  const auto message = [&](auto change) {
    Conv1dOptions options = good;
    change(options);
    return message_of<ValueError>([&] { Conv1d(options, random); });
  };
  CHECK(message([](auto& o) { o.in_channels = 0; }) ==
        "Conv1d: in_channels: expected a number > 0, got 0");
  CHECK(message([](auto& o) { o.out_channels = -1; }) ==
        "Conv1d: out_channels: expected a number > 0, got -1");
  CHECK(message([](auto& o) { o.kernel_size = 0; }) ==
        "Conv1d: kernel_size: expected a number > 0, got 0");
  CHECK(message([](auto& o) { o.stride = 0; }) == "Conv1d: stride: expected a number > 0, got 0");
  CHECK(message([](auto& o) { o.dilation = 0; }) ==
        "Conv1d: dilation: expected a number > 0, got 0");
  CHECK(message([](auto& o) { o.groups = 0; }) == "Conv1d: groups: expected a number > 0, got 0");
  CHECK(message([](auto& o) { o.groups = 2; }) ==
        "Conv1d: groups: expected a divisor of 2 and 3, got 2");
  CHECK(message([](auto& o) { o.padding = -1; }) ==
        "Conv1d: padding: expected a number of zeros ≥ 0, got -1");
  CHECK(message([](auto& o) {
          o.padding = Padding::same;
          o.stride = 2;
        }) == "Conv1d: Padding::same: expected a stride of 1, got 2");
  const Conv1d layer(good, random);
  Tape tape;
  const auto zeros = [&](Shape shape) { return tape.constant(Tensor<float>(shape)); };
  CHECK(message_of<ShapeError>([&] {
          layer(zeros({2, 5, 4}));
        }) == "Conv1d: expected shape [batch, time, 2], got [2, 5, 4]");
  CHECK(message_of<ShapeError>([&] {
          layer(zeros({1, 2, 2}));
        }) ==
        "unfold: expected at least 3 positions with padding, got 2 for an input of shape [1, 2, "
        "2]");
  CHECK(message_of<ValueError>([&] {
          layer(zeros({1, 4, 2}), ValidLens{5});
        }) == "unfold: valid_lens: expected lengths from 0 to 4, got 5");
}
