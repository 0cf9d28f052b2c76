#include <cmath>
#include <limits>
#include <vector>

#include <weft/autograd/ops/cross_entropy.hpp>
#include <weft/autograd/ops/losses.hpp>
#include <weft/autograd/random.hpp>
#include "tests/autograd/gradient_table.hpp"
#include "tests/autograd/same_bits.hpp"
#include "tests/catch.hpp"

namespace weft {
namespace {

template <class T>
std::vector<T> elements(const Tensor<T>& tensor) {
  return {tensor.begin(), tensor.end()};
}

}  // namespace

TEMPLATE_TEST_CASE("mse loss: value and gradients computed by hand", "[autograd]", float, double) {
  Parameter<TestType> prediction(Tensor<TestType>({2, 2}, {1, 2, 3, 4}));
  Parameter<TestType> target(Tensor<TestType>({2, 2}, {1, 0, 6, 4}));
  Tape<TestType> tape;
  const auto loss = mse_loss(tape.parameter(prediction), tape.parameter(target));
  CHECK(loss.shape() == Shape{});
  CHECK(loss.item() == TestType(13) / 4);
  tape.backward(loss);
  CHECK(elements(prediction.grad()) == std::vector<TestType>{0, 1, -1.5, 0});
  CHECK(elements(target.grad()) == std::vector<TestType>{0, -1, 1.5, 0});
}

TEMPLATE_TEST_CASE("binary cross entropy: values computed by hand", "[autograd]", float, double) {
  Tape<TestType> tape;
  const auto logits = tape.constant(Tensor<TestType>({3}, {0, 2, -1}));
  const Tensor<TestType> targets({3}, {1, 0.25, 0});
  // log 2, log(1 + e^-2) + 0.75 · 2, log(1 + e^-1)
  const double expected =
      (std::log(2.0) + std::log1p(std::exp(-2.0)) + 1.5 + std::log1p(std::exp(-1.0))) / 3.0;
  CHECK(binary_cross_entropy_with_logits(logits, targets).item() == Approx(expected));
}

TEMPLATE_TEST_CASE("binary cross entropy: gradients computed by hand", "[autograd]", float,
                   double) {
  Parameter<TestType> logits(Tensor<TestType>({2}, {0, static_cast<TestType>(std::log(3.0))}));
  Tape<TestType> tape;
  const auto loss =
      binary_cross_entropy_with_logits(tape.parameter(logits), Tensor<TestType>({2}, {1, 0.5}));
  tape.backward(loss);
  // (σ(x) - t) / 2 with σ = 1/2 and 3/4
  CHECK(logits.grad()(0) == Approx(-0.25));
  CHECK(logits.grad()(1) == Approx(0.125));
}

TEMPLATE_TEST_CASE(
    "binary cross entropy: is finite for huge logits and accurate for confident ones", "[autograd]",
    float, double) {
  for (const double huge : {1e4, 1e38}) {
    const auto x = static_cast<TestType>(huge);
    Parameter<TestType> logits(Tensor<TestType>({4}, {x, x, -x, -x}));
    Tape<TestType> tape;
    const auto loss = binary_cross_entropy_with_logits(tape.parameter(logits),
                                                       Tensor<TestType>({4}, {1, 0, 1, 0}));
    CHECK(loss.item() == Approx(huge / 2.0));
    tape.backward(loss);
    CHECK(elements(logits.grad()) == std::vector<TestType>{0, 0.25, -0.25, 0});
  }
  Tape<TestType> tape;
  const auto confident = tape.constant(Tensor<TestType>({1}, {20}));
  CHECK(binary_cross_entropy_with_logits(confident, Tensor<TestType>({1}, {1})).item() ==
        Approx(std::exp(-20.0)));
}

TEST_CASE("losses: different shapes, empty tensors and invalid targets throw", "[autograd]") {
  Tape<float> tape;
  const auto x = tape.constant(Tensor<float>({2, 3})), none = tape.constant(Tensor<float>({0, 3}));
  CHECK_THROWS_AS(mse_loss(x, none), ShapeError);
  CHECK_THROWS_WITH(mse_loss(x, none), "mse_loss: expected targets of shape [2, 3], got [0, 3]");
  CHECK_THROWS_WITH(mse_loss(none, none), "mse_loss: expected at least one element, got [0, 3]");
  CHECK_THROWS_WITH(binary_cross_entropy_with_logits(x, Tensor<float>({6})),
                    "binary_cross_entropy_with_logits: expected targets of shape [2, 3], got [6]");
  CHECK_THROWS_AS(binary_cross_entropy_with_logits(none, Tensor<float>({0, 3})), ShapeError);
  CHECK_THROWS_AS(binary_cross_entropy_with_logits(x, Tensor<float>::full({2, 3}, -0.5F)),
                  ValueError);
  CHECK_THROWS_WITH(binary_cross_entropy_with_logits(x, Tensor<float>({2, 3}, {0, 1, 0, 1, 2, 0})),
                    "binary_cross_entropy_with_logits: target at [1, 1]: expected a value "
                    "from 0 to 1, got 2");
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK_THROWS_AS(binary_cross_entropy_with_logits(x, Tensor<float>::full({2, 3}, nan)),
                  ValueError);
}

TEST_CASE("losses: the same bits on 1, 2, 3 and 8 threads", "[autograd]") {
  Random random(12);
  Parameter<float> x(random.normal_tensor<float>({300, 211}));
  const Tensor<float> target = random.uniform_tensor<float>({300, 211}, 0.0, 1.0);
  check_same_bits([&] {
    Tape<float> tape;
    x.zero_grad();
    const auto square = mse_loss(tape.parameter(x), tape.constant(target));
    tape.backward(square);
    const auto binary = binary_cross_entropy_with_logits(tape.parameter(x), target);
    tape.backward(binary);
    return std::vector<Tensor<float>>{square.value(), binary.value(), x.grad().clone()};
  });
}

namespace {

// Targets for logits [..., classes]; every fifth is `ignored`.
Tokens random_targets(const Shape& logits, TokenId ignored) {
  Tokens targets = random_tokens(logits.without(-1), logits[-1]);
  for (Index i = 1; i < targets.size(); i += 5) targets.data()[i] = ignored;
  return targets;
}

// Of 0 to 1, both included.
template <class T>
Tensor<T> random_shares(const Shape& shape) {
  auto shares = Random(35).uniform_tensor<T>(shape, -0.5, 1.5);
  for (T& share : shares) share = std::clamp(share, T{0}, T{1});
  return shares;
}

Tensor<double> targets_for(const Var<double>& x) { return random_shares<double>(x.shape()); }
Tensor<float> targets_for(const Var<float>& x) { return random_shares<float>(x.shape()); }

std::vector<GradientCase> gradient_rows() {
  return {
      {"cross_entropy",
       "with an ignored target",
       {{2, 2, 4}},
       {{10, 30, 20}},
       [](const auto& x) { return cross_entropy(x[0], random_targets(x[0].shape(), -100)); }},
      {"cross_entropy",
       "with label smoothing",
       {{3, 4}},
       {{300, 20}},
       [](const auto& x) {
         return cross_entropy(x[0], random_targets(x[0].shape(), 77),
                              {.ignore_index = 77, .label_smoothing = 0.1});
       }},
      {"cross_entropy",
       "divided by a given number",
       {{3, 4}},
       {{300, 20}},
       [](const auto& x) {
         return cross_entropy(x[0], random_tokens(x[0].shape().without(-1), x[0].shape()[-1]),
                              {.divisor = 7.0});
       }},
      {"cross_entropy",
       "with every target ignored",
       {{2, 4}},
       {{300, 20}},
       [](const auto& x) {
         Tokens targets(x[0].shape().without(-1));
         targets.fill(-100);
         return cross_entropy(x[0], targets);
       }},
      {"mse_loss",
       "prediction and target",
       {{2, 3}, {2, 3}},
       {{200, 250}, {200, 250}},
       [](const auto& x) { return mse_loss(x[0], x[1]); }},
      {"binary_cross_entropy_with_logits",
       "hard and soft targets",
       {{2, 3}},
       {{60, 80}},
       [](const auto& x) { return binary_cross_entropy_with_logits(x[0], targets_for(x[0])); }},
  };
}

const GradientRows registered(gradient_rows());

}  // namespace
}  // namespace weft
