#include <cmath>
#include <limits>
#include <sstream>
#include <vector>

#include <weft/autograd/random.hpp>
#include <weft/layers/activate.hpp>
#include <weft/layers/batch_norm.hpp>
#include <weft/layers/linear.hpp>
#include <weft/layers/sequential.hpp>
#include <weft/layers/summary.hpp>
#include "tests/autograd/same_bits.hpp"
#include "tests/catch.hpp"
#include "tests/compare.hpp"
#include "tests/messages.hpp"

namespace weft {
namespace {

// A mask that leaves out every fourth vector.
Tensor<bool> three_of_four(const Shape& shape) {
  Tensor<bool> mask(shape);
  for (Index i = 0; i < mask.size(); ++i) mask.data()[i] = i % 4 != 1;
  return mask;
}

}  // namespace

TEST_CASE("batch norm: training normalizes by the batch and updates the averages", "[layers]") {
  BatchNorm norm({.num_features = 1, .eps = 0.0});
  *norm.weight = Parameter<float>(Tensor<float>({1}, {10}));
  *norm.bias = Parameter<float>(Tensor<float>({1}, {5}));
  Tape tape({.training = true});
  // The mean is 3, the biased variance 4, the unbiased one 8.
  const Var y = norm(tape.constant(Tensor<float>({2, 1}, {1, 5})));
  CHECK(same(y.value(), Tensor<float>({2, 1}, {-5, 15})));
  CHECK(norm.running_mean(0) == Approx(0.3));
  CHECK(norm.running_var(0) == Approx(0.9 + 0.8));
  (void)norm(tape.constant(Tensor<float>({2, 1}, {1, 5})));
  CHECK(norm.running_mean(0) == Approx(0.9 * 0.3 + 0.3));
  CHECK(norm.running_var(0) == Approx(0.9 * 1.7 + 0.8));
}

TEST_CASE("batch norm: evaluation normalizes by the running averages and keeps them", "[layers]") {
  BatchNorm norm({.num_features = 2, .eps = 1.0, .scale = false, .bias = false});
  norm.running_mean = Tensor<float>({2}, {1, 2});
  norm.running_var = Tensor<float>({2}, {3, 8});
  const NamedConstBuffers<float> buffers = named_buffers(std::as_const(norm));
  for (const bool recording : {false, true}) {
    Tape tape({.recording = recording});
    const Var y = norm(tape.constant(Tensor<float>({1, 1, 2}, {5, 8})));
    CHECK(same(y.value(), Tensor<float>({1, 1, 2}, {2, 2})));
    CHECK(norm(tape.constant(Tensor<float>({0, 2}))).shape() == Shape{0, 2});
  }
  CHECK(same(*buffers[0].buffer, Tensor<float>({2}, {1, 2})));
  CHECK(same(*buffers[1].buffer, Tensor<float>({2}, {3, 8})));
}

TEST_CASE("batch norm: vectors that are not selected do not count, but are normalized",
          "[layers]") {
  BatchNorm norm({.num_features = 1, .eps = 0.0, .momentum = 0.5, .unbiased = false});
  const Tensor<bool> mask = three_of_four({1, 3});  // the first and the third
  Tape tape({.training = true});
  const Var y = norm(tape.constant(Tensor<float>({1, 3, 1}, {1, 8, 5})), mask);
  CHECK(same(y.value(), Tensor<float>({1, 3, 1}, {-1, 2.5F, 1})));
  CHECK(norm.running_mean(0) == 1.5F);
  CHECK(norm.running_var(0) == 2.5F);  // 0.5 · 1 + 0.5 · 4
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(norm(tape.constant(Tensor<float>({1, 3, 1}, {1, nan, 5})), mask).value()(0, 2, 0) == 1);
  CHECK(norm.running_mean(0) == 2.25F);
}

TEMPLATE_TEST_CASE("batch norm at size: the formula, with and without a mask", "[layers]", float,
                   double) {
  const Index batch = 30, time = 90, features = 40;
  const double tolerance = std::is_same_v<TestType, float> ? 1e-5 : 1e-12;
  const auto x = Random(3).normal_tensor<TestType>({batch, time, features}, 2.0, 3.0);
  for (const Tensor<bool>& mask : {Tensor<bool>(), three_of_four({batch, time})}) {
    BatchNorm<TestType> norm({.num_features = features});
    Tape<TestType> tape({.training = true});
    const Tensor<TestType> y = norm(tape.constant(x), mask).value();
    Tensor<double> expected(x.shape()), means({features}), variances({features});
    for (Index c = 0; c < features; ++c) {
      double sum = 0.0, squares = 0.0, n = 0.0;
      const auto for_counted = [&](const auto& body) {
        for (Index row = 0; row < batch * time; ++row)
          if (mask.empty() || mask.data()[row])
            body(static_cast<double>(x.data()[row * features + c]));
      };
      for_counted([&](double value) { sum += value, ++n; });
      for_counted([&](double value) { squares += std::pow(value - sum / n, 2); });
      for (Index row = 0; row < batch * time; ++row)
        expected.data()[row * features + c] =
            (static_cast<double>(x.data()[row * features + c]) - sum / n) /
            std::sqrt(squares / n + 1e-5);
      means(c) = 0.1 * sum / n;
      variances(c) = 0.9 + 0.1 * squares / (n - 1);
    }
    CHECK(distance(y, expected) < tolerance);
    CHECK(distance(norm.running_mean, means) < tolerance);
    CHECK(distance(norm.running_var, variances) < tolerance);
  }
}

TEST_CASE("batch norm: the same bits on 1, 2, 3 and 8 threads", "[layers]") {
  Random random(8);
  Parameter<float> x(random.normal_tensor<float>({30, 90, 40}));
  const auto upstream = random.normal_tensor<float>({30, 90, 40});
  check_same_bits([&] {
    BatchNorm norm({.num_features = 40});
    Tape<float> tape({.training = true});
    const Var y = norm(tape.parameter(x), three_of_four({30, 90}));
    x.zero_grad();
    tape.backward(y, upstream);
    return std::vector<Tensor<float>>{y.value(), x.grad().clone(), norm.weight->grad().clone(),
                                      norm.running_mean, norm.running_var};
  });
}

TEST_CASE("batch norm: a layer of a Sequential, whose copies have their own averages", "[layers]") {
  Random random(1);
  Sequential model{Linear({.in_features = 3, .out_features = 4}, random),
                   BatchNorm({.num_features = 4}), Activate(Activation::relu)};
  Sequential copy = model;
  Tape tape({.training = true});
  (void)copy(tape.constant(random.normal_tensor<float>({5, 3})));
  CHECK(same(model.at<BatchNorm<float>>(1).running_mean, Tensor<float>({4})));
  CHECK_FALSE(same(copy.at<BatchNorm<float>>(1).running_mean, Tensor<float>({4})));
  std::vector<std::string> names;
  for (const auto& [name, buffer] : named_running_buffers(model)) names.push_back(name);
  CHECK(names == std::vector<std::string>{"1.running_mean", "1.running_var"});
}

TEST_CASE("batch norm: printed as in PyTorch", "[layers]") {
  std::ostringstream text;
  text << BatchNorm({.num_features = 6});
  CHECK(text.str() ==
        "BatchNorm1d(6, eps=1e-05, momentum=0.1, affine=True, bias=True, "
        "track_running_stats=True)");
}

TEST_CASE("batch norm: invalid options and inputs throw, and change nothing", "[layers]") {
  CHECK(message_of<ValueError>([] { BatchNorm({.num_features = 0}); }) ==
        "BatchNorm: num_features: expected a number > 0, got 0");
  CHECK(message_of<ValueError>([] { BatchNorm({.num_features = 2, .eps = -1.0}); }) ==
        "BatchNorm: eps: expected a number ≥ 0, got -1");
  for (const double momentum : {-0.1, 1.5, std::nan("")})
    CHECK_THROWS_AS(BatchNorm({.num_features = 2, .momentum = momentum}), ValueError);
  CHECK(message_of<ValueError>([] { BatchNorm({.num_features = 2, .momentum = 1.5}); }) ==
        "BatchNorm: momentum: expected a number from 0 to 1, got 1.5");

  const BatchNorm norm({.num_features = 2});
  Tape tape({.training = true});
  const auto input = [&](const Shape& shape) {
    return tape.constant(Tensor<float>::full(shape, 3));
  };
  CHECK(message_of<ShapeError>([&] {
          norm(input({4, 3}));
        }) == "BatchNorm: expected shape [..., 2], got [4, 3]");
  CHECK_THROWS_AS(norm(input({})), ShapeError);
  CHECK(message_of<ShapeError>([&] {
          norm(input({4, 3, 2}), Tensor<bool>({4, 2}));
        }) == "BatchNorm: mask: expected [4, 3], got [4, 2]");
  CHECK_THROWS_AS(norm(input({4, 3, 2}), Tensor<bool>::full({3, 4}, true)), ShapeError);
  CHECK(message_of<ShapeError>([&] {
          norm(input({1, 2}));
        }) == "BatchNorm: training: expected at least two vectors, got 1 in [1, 2]");
  CHECK(message_of<ShapeError>([&] {
          norm(input({1, 3, 2}), Tensor<bool>({1, 3}));
        }) == "BatchNorm: training: expected at least two vectors, got 0 in [1, 3, 2]");
  CHECK(same(norm.running_mean, Tensor<float>({2})));
  CHECK(same(norm.running_var, Tensor<float>({2}, {1, 1})));

  const BatchNorm biased({.num_features = 2, .unbiased = false});
  CHECK(same(biased(input({1, 2})).value(), Tensor<float>({1, 2})));
  CHECK(message_of<ShapeError>([&] {
          biased(input({0, 2}));
        }) == "BatchNorm: training: expected at least one vector, got 0 in [0, 2]");
}

}  // namespace weft
