#include <cmath>
#include <limits>

#include <weft/layers.hpp>
#include <weft/layers/kernel_regression.hpp>
#include <weft/train.hpp>
#include "tests/catch.hpp"
#include "tests/compare.hpp"
#include "tests/messages.hpp"

using namespace weft;

namespace {

// The weights that a query at 0 gives to points at 0, 1/2 and 2.
Tensor<double> weights_of(Kernel kernel, double w) {
  const KernelRegression<double> regression({.kernel = kernel, .w = w});
  Tape<double> tape({.recording = false, .keep_attention_weights = true});
  const Var points = tape.constant(Tensor<double>({3}, {0, 0.5, 2}));
  regression(tape.constant(Tensor<double>({1})), points, points);
  return tape.take_attention_weights().front().reshaped({1, 3});
}

Tensor<double> row(double a, double b, double c) {
  const double sum = a + b + c;
  return Tensor<double>({1, 3}, {a / sum, b / sum, c / sum});
}

}  // namespace

TEST_CASE("kernel regression: the weights of each kernel", "[layers]") {
  CHECK(distance(weights_of(Kernel::constant, 1), row(1, 1, 1)) < 1e-15);
  CHECK(distance(weights_of(Kernel::gaussian, 1), row(1, std::exp(-0.125), std::exp(-2))) < 1e-15);
  CHECK(distance(weights_of(Kernel::gaussian, 2), row(1, std::exp(-0.5), std::exp(-8))) < 1e-15);
  CHECK(distance(weights_of(Kernel::boxcar, 1), row(1, 1, 0)) < 1e-15);
  CHECK(distance(weights_of(Kernel::boxcar, 0.5), row(1, 1, 1)) < 1e-15);
  CHECK(distance(weights_of(Kernel::epanechnikov, 1), row(1, 0.75, 0)) < 1e-15);
  CHECK(distance(weights_of(Kernel::triangular, 1), row(1, 0.5, 0)) < 1e-15);
  CHECK(distance(weights_of(Kernel::triangular, 0.4), row(1, 0.8, 0.2)) < 1e-15);
}

TEST_CASE("kernel regression: average pooling returns the mean for every query", "[layers]") {
  const KernelRegression<float> average({.kernel = Kernel::constant});
  Tape tape = Tape<float>::inference();
  const Var y = average(tape.constant(Tensor<float>({2}, {-1, 7})),
                        tape.constant(Tensor<float>({3}, {1, 2, 3})),
                        tape.constant(Tensor<float>({3}, {3, 6, 0})));
  CHECK(same(y.value(), Tensor<float>({2}, {3, 3})));
}

TEST_CASE("kernel regression: the result is 0 where all weights are 0", "[layers]") {
  const Kernel kernel = GENERATE(Kernel::boxcar, Kernel::epanechnikov, Kernel::triangular);
  const KernelRegression<float> regression({.kernel = kernel});
  Parameter<float> queries(Tensor<float>({2}, {10, 1})), values(Tensor<float>({1}, {5}));
  Tape tape;
  const Var y = regression(tape.parameter(queries), tape.constant(Tensor<float>({1}, {1})),
                           tape.parameter(values));
  CHECK(same(y.value(), Tensor<float>({2}, {0, 5})));
  tape.backward(y, Tensor<float>::full({2}, 1.0F));
  CHECK(same(queries.grad(), Tensor<float>({2})));
  CHECK(same(values.grad(), Tensor<float>({1}, {1})));
}

TEST_CASE("kernel regression: the Gaussian kernel works at any distance", "[layers]") {
  const KernelRegression<float> regression({});
  Tape tape = Tape<float>::inference();
  const Var y = regression(tape.constant(Tensor<float>({1}, {1000})),
                           tape.constant(Tensor<float>({2}, {1, 3})),
                           tape.constant(Tensor<float>({2}, {5, 7})));
  CHECK(y.item() == 7.0F);
}

TEST_CASE("kernel regression: masked points have no effect", "[layers]") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor<bool> allowed({2, 3}, {true, false, true, true, false, true});
  KernelRegression<double> regression({});
  const auto run = [&](double bad) {
    Parameter<double> keys(Tensor<double>({3}, {0, bad, 2}));
    Parameter<double> values(Tensor<double>({3}, {5, bad, 6}));
    Tape<double> tape;
    const Var y = regression(tape.constant(Tensor<double>({2}, {0, 1})), tape.parameter(keys),
                             tape.parameter(values), allowed);
    regression.w.zero_grad();
    tape.backward(y, Tensor<double>({2}, {1, 2}));
    return std::vector<Tensor<double>>{y.value(), keys.grad(), values.grad(),
                                       regression.w.grad().clone()};
  };
  const auto clean = run(1.0), with_nan = run(nan);
  for (std::size_t i = 0; i < clean.size(); ++i) CHECK(same(with_nan[i], clean[i]));
}

TEST_CASE("kernel regression: a learned w fits better than 1", "[layers]") {
  // Each point attends to all others (leave-one-out): its own value would reveal the answer.
  constexpr Index n = 30;
  Tensor<float> x({n}), y({n});
  Random random(1);
  for (Index i = 0; i < n; ++i) {
    x(i) = static_cast<float>(i) / 6.0F;
    y(i) = 2.0F * std::sin(2.0F * x(i)) + static_cast<float>(0.2 * random.normal());
  }
  Tensor<bool> others = Tensor<bool>::full({n, n}, true);
  for (Index i = 0; i < n; ++i) others(i, i) = false;
  KernelRegression<float> regression({});
  AdamW<float> optimizer(regression, {.lr = 0.1});
  Tape tape({.training = true});
  float first = 0, last = 0;
  for (int step = 0; step < 100; ++step) {
    const Var points = tape.constant(x);
    const Var loss =
        mse_loss(regression(points, points, tape.constant(y), others), tape.constant(y));
    last = loss.item();
    if (step == 0) first = last;
    tape.backward(loss);
    optimizer.step();
  }
  CHECK(last < 0.5F * first);
  CHECK(regression.w.value().item() > 1.5F);
}

TEST_CASE("kernel regression: invalid arguments throw", "[layers]") {
  // 1e-50 and 1e50 are 0 and infinite in float.
  for (const double bad : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(), 1e-50, 1e50})
    CHECK(contains(message_of<ValueError>([&] { KernelRegression<float>({.w = bad}); }),
                   "KernelRegression: w: expected a finite number > 0, got"));
  const KernelRegression<float> regression({});
  Tape<float> tape;
  const auto zeros = [&](Shape shape) { return tape.constant(Tensor<float>(shape)); };
  CHECK(message_of<ShapeError>([&] { regression(zeros({2}), zeros({3}), zeros({2})); }) ==
        "KernelRegression: expected queries [num_queries], keys [num_keys] and values [num_keys], "
        "got [2], [3] and [2]");
  CHECK_THROWS_AS(regression(zeros({2, 1}), zeros({3}), zeros({3})), ShapeError);
  CHECK_THROWS_AS(regression(zeros({2}), zeros({3}), zeros({3}), Tensor<bool>({3, 2})), ShapeError);
}
