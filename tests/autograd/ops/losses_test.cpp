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

TEMPLATE_TEST_CASE("binary cross entropy: a weight for each class, computed by hand", "[autograd]",
                   float, double) {
  Tape<TestType> tape;
  const auto losses = binary_cross_entropy_with_logits(
      tape.constant(Tensor<TestType>({2, 2})), Tensor<TestType>({2, 2}, {1, 1, 0, 0.5}),
      {.pos_weight = {2, 3}, .reduction = Reduction::none});
  const double half = std::log(2.0);
  for (Index i = 0; const double weight : {2.0, 3.0, 1.0, 2.0})
    CHECK(losses.value().data()[i++] == Approx(weight * half));
  const auto of_all_classes = binary_cross_entropy_with_logits(
      tape.constant(Tensor<TestType>({2, 2})), Tensor<TestType>({2, 2}, {1, 1, 0, 0.5}),
      {.pos_weight = {3}, .reduction = Reduction::sum});
  CHECK(of_all_classes.item() == Approx((3.0 + 3.0 + 1.0 + 2.0) * half));
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

TEMPLATE_TEST_CASE("losses: the losses of errors, computed by hand", "[autograd]", float, double) {
  Tape<TestType> tape;
  const auto x = tape.constant(Tensor<TestType>({4}, {1, 5, -3, 0}));
  const auto t = tape.constant(Tensor<TestType>({4}, {0.5, 2, 1, 0}));  // errors 0.5, 3, -4, 0
  constexpr auto none = Reduction::none;
  using Values = std::vector<TestType>;
  CHECK(elements(mse_loss(x, t, {.reduction = none}).value()) == Values{0.25, 9, 16, 0});
  CHECK(elements(l1_loss(x, t, {.reduction = none}).value()) == Values{0.5, 3, 4, 0});
  CHECK(elements(huber_loss(x, t, {.delta = 2, .reduction = none}).value()) ==
        Values{0.125, 4, 6, 0});
  CHECK(elements(smooth_l1_loss(x, t, {.beta = 2, .reduction = none}).value()) ==
        Values{0.0625, 2, 3, 0});
  CHECK(l1_loss(x, t).item() == TestType(7.5) / 4);
  CHECK(l1_loss(x, t, {.reduction = Reduction::sum}).item() == TestType(7.5));
}

TEST_CASE("losses: a square that exceeds float's range does not, divided by their number",
          "[autograd]") {
  Tape<float> tape;
  Tensor<float> x = Tensor<float>({100});
  x.data()[50] = 3e19F;
  const auto zeros = tape.constant(Tensor<float>({100}));
  CHECK(mse_loss(tape.constant(x), zeros).item() == Approx(9e36));
}

TEST_CASE("losses: of no elements, the sum is 0 and the losses are empty", "[autograd]") {
  Tape<float> tape;
  const auto none = tape.constant(Tensor<float>({0, 3}));
  CHECK(mse_loss(none, none, {.reduction = Reduction::sum}).item() == 0.0F);
  CHECK(l1_loss(none, none, {.reduction = Reduction::none}).shape() == Shape{0, 3});
  CHECK(
      binary_cross_entropy_with_logits(none, none.value(), {.reduction = Reduction::sum}).item() ==
      0.0F);
}

TEMPLATE_TEST_CASE("KL divergence: values computed by hand", "[autograd]", float, double) {
  Tape<TestType> tape;
  const auto x = tape.constant(Tensor<TestType>({2, 2}, {-1, -2, -3, -4}));
  const auto t = tape.constant(Tensor<TestType>({2, 2}, {0.5, 0.5, 0, 1}));
  // 0.5 (log 0.5 + 1), 0.5 (log 0.5 + 2), 0, 1 (log 1 + 4)
  CHECK(kl_div(x, t, {.reduction = Reduction::sum}).item() == Approx(std::log(0.5) + 5.5));
  const auto impossible =
      tape.constant(Tensor<TestType>::full({2, 2}, -std::numeric_limits<TestType>::infinity()));
  CHECK(kl_div(impossible, t, {.reduction = Reduction::none}).value()(1, 0) == 0);
}

TEST_CASE("cross entropy: class weights, computed by hand", "[autograd]") {
  Tape<double> tape;
  const Tensor<double> logits({2, 3}, {1, 2, 3, 0, 0, 0});
  Parameter<double> parameter(logits);
  const auto x = [&] { return tape.parameter(parameter); };
  const std::vector<double> weights{2, 0, 0.5};
  const double two = 0.4076059644, three = std::log(3.0);
  CHECK(cross_entropy(x(), Tokens({2}, {2, 0}), {.class_weights = weights}).item() ==
        Approx((0.5 * two + 2 * three) / 2.5));
  CHECK(elements(tape.label_counts().size() == 1
                     ? Tensor<double>({1}, {tape.label_counts().front()})
                     : Tensor<double>()) == std::vector{2.5});
  const auto losses = cross_entropy(x(), Tokens({2}, {2, 0}),
                                    {.class_weights = weights, .reduction = Reduction::none});
  CHECK(losses.value()(0) == Approx(0.5 * two));
  CHECK(losses.value()(1) == Approx(2 * three));
  // A weight of 0 leaves a target out, and a pass without weights has a loss of 0.
  CHECK(cross_entropy(x(), Tokens({2}, {1, 1}), {.class_weights = weights}).item() == 0.0);
  CHECK(cross_entropy(x(), Tokens({2}, {2, -100}), {.reduction = Reduction::sum}).item() ==
        Approx(two));
  const auto ignored =
      cross_entropy(x(), Tokens({2}, {-100, 0}), {.reduction = Reduction::none}).value();
  CHECK(ignored(0) == 0.0);
  CHECK(ignored(1) == Approx(three));
}

TEST_CASE("losses: options out of range throw", "[autograd]") {
  Tape<float> tape;
  const auto x = tape.constant(Tensor<float>({2, 3})), t = tape.constant(Tensor<float>({2, 3}));
  CHECK_THROWS_WITH(huber_loss(x, t, {.delta = 0}),
                    "huber_loss: delta: expected a finite number > 0, got 0");
  CHECK_THROWS_AS(huber_loss(x, t, {.delta = std::numeric_limits<double>::infinity()}), ValueError);
  CHECK_THROWS_AS(smooth_l1_loss(x, t, {.beta = -1}), ValueError);
  CHECK_THROWS_WITH(kl_div(x, tape.constant(Tensor<float>::full({2, 3}, -1.0F))),
                    "kl_div: target at [0, 0]: expected a probability, got -1");
  CHECK_THROWS_WITH(binary_cross_entropy_with_logits(x, t.value(), {.pos_weight = {1, 2}}),
                    "binary_cross_entropy_with_logits: pos_weight: expected 1 weight or 3, got 2");
  CHECK_THROWS_AS(binary_cross_entropy_with_logits(x, t.value(), {.pos_weight = {-1}}), ValueError);
  const Tokens targets({2}, {0, 1});
  CHECK_THROWS_WITH(cross_entropy(x, targets, {.class_weights = {1, 2}}),
                    "cross_entropy: class_weights: expected 3 weights, got 2");
  CHECK_THROWS_AS(cross_entropy(x, targets, {.class_weights = {1, 2, -1}}), ValueError);
  CHECK_THROWS_AS(cross_entropy(x, targets, {.reduction = Reduction::sum, .divisor = 2.0}),
                  ValueError);
  CHECK_THROWS_WITH(linear_cross_entropy(x, t, targets, {.reduction = Reduction::none}),
                    "linear_cross_entropy: reduction: expected Reduction::mean or Reduction::sum, "
                    "got Reduction::none");
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
    const auto binary =
        binary_cross_entropy_with_logits(tape.parameter(x), target, {.pos_weight = {3}});
    tape.backward(binary);
    const auto absolute =
        l1_loss(tape.parameter(x), tape.constant(target), {.reduction = Reduction::none});
    tape.backward(absolute, target);
    return std::vector<Tensor<float>>{square.value(), binary.value(), absolute.value(),
                                      x.grad().clone()};
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

// 0.5, 1, 1.5, … for each class.
std::vector<double> weights_for(const auto& x) {
  std::vector<double> weights;
  for (Index c = 0; c < x.shape()[-1]; ++c) weights.push_back(0.5 * static_cast<double>(c + 1));
  return weights;
}

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
      {"cross_entropy",
       "with class weights and label smoothing",
       {{3, 4}},
       {{300, 20}},
       [](const auto& x) {
         return cross_entropy(x[0], random_targets(x[0].shape(), -100),
                              {.label_smoothing = 0.1, .class_weights = weights_for(x[0])});
       }},
      {"cross_entropy",
       "the losses themselves, with class weights",
       {{3, 4}},
       {{300, 20}},
       [](const auto& x) {
         return cross_entropy(x[0], random_targets(x[0].shape(), -100),
                              {.class_weights = weights_for(x[0]), .reduction = Reduction::none});
       }},
      {"l1_loss",
       "prediction and target",
       {distinct({2, 3}), {Tensor<double>({2, 3})}},
       {distinct({200, 250}), {Tensor<double>({200, 250})}},
       [](const auto& x) { return l1_loss(x[0], x[1]); }},
      {"mse_loss",
       "the losses themselves",
       {{2, 3}, {2, 3}},
       {{200, 250}, {200, 250}},
       [](const auto& x) { return mse_loss(x[0], x[1], {.reduction = Reduction::none}); }},
      {"huber_loss",
       "prediction and target, the sum",
       {{4, 3}, {4, 3}},
       {{200, 250}, {200, 250}},
       [](const auto& x) {
         return huber_loss(x[0], x[1], {.delta = 0.7, .reduction = Reduction::sum});
       }},
      {"smooth_l1_loss",
       "prediction and target",
       {{4, 3}, {4, 3}},
       {{200, 250}, {200, 250}},
       [](const auto& x) { return smooth_l1_loss(x[0], x[1], {.beta = 0.7}); }},
      {"kl_div",
       "log-probabilities and targets",
       {{2, 3}, positive({2, 3})},
       {{200, 250}, positive({200, 250})},
       [](const auto& x) { return kl_div(x[0], x[1], {.reduction = Reduction::none}); }},
      {"binary_cross_entropy_with_logits",
       "a weight for each class, the losses themselves",
       {{2, 3}},
       {{60, 80}},
       [](const auto& x) {
         return binary_cross_entropy_with_logits(
             x[0], targets_for(x[0]),
             {.pos_weight = weights_for(x[0]), .reduction = Reduction::none});
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
