#include <cmath>
#include <limits>

#include <weft/autograd/ops/arithmetic.hpp>
#include <weft/autograd/ops/cross_entropy.hpp>
#include <weft/autograd/ops/elementwise.hpp>
#include <weft/autograd/ops/linear.hpp>
#include <weft/autograd/ops/losses.hpp>
#include <weft/autograd/random.hpp>
#include "tests/autograd/gradient_table.hpp"
#include "tests/autograd/same_bits.hpp"
#include "tests/catch.hpp"
#include "tests/compare.hpp"

namespace weft {

TEMPLATE_TEST_CASE("cross entropy: values computed by hand", "[autograd]", float, double) {
  Tape<TestType> tape;
  const auto logits = tape.constant(Tensor<TestType>({2, 3}, {1, 2, 3, 0, 0, 0}));
  // -log softmax: 2.4076059644, 1.4076059644, 0.4076059644; log 3 in every class.
  CHECK(cross_entropy(logits, Tokens({2}, {0, 1})).item() ==
        Approx((2.4076059644 + std::log(3.0)) / 2.0));
  CHECK(cross_entropy(logits, Tokens({2}, {2, -100})).item() == Approx(0.4076059644));
  CHECK(cross_entropy(logits, Tokens({2}, {2, -100}), {.label_smoothing = 0.3}).item() ==
        Approx(0.7 * 0.4076059644 + 0.1 * (2.4076059644 + 1.4076059644 + 0.4076059644)));
  CHECK(cross_entropy(logits, Tokens({2}, {2, 1}), {.divisor = 10.0}).item() ==
        Approx((0.4076059644 + std::log(3.0)) / 10.0));
}

TEST_CASE("cross entropy: counts the labels of its mean in the pass", "[autograd]") {
  Tape<double> tape;
  const auto x = tape.constant(Tensor<double>({3, 2}, {1, 2, 3, 4, 5, 6}));
  const auto weight = tape.constant(Tensor<double>({2, 2}, {1, 0, 0, 1}));
  const auto counts = [&] {
    const auto all = tape.label_counts();
    std::vector<double> result(all.begin(), all.end());
    tape.clear();
    CHECK(tape.label_counts().empty());
    return result;
  };
  const auto logits = [&] { return tape.constant(x.value()); };
  cross_entropy(logits(), Tokens({3}, {0, -100, 1}));
  CHECK(counts() == std::vector{2.0});
  cross_entropy(logits(), Tokens({3}, {0, 1, 1}), {.ignore_index = 1});
  cross_entropy(logits(), Tokens({3}, {1, 0, 1}), {.ignore_index = 0});
  CHECK(counts() == std::vector{1.0, 2.0});
  cross_entropy(logits(), Tokens::full({3}, -100));
  CHECK(counts() == std::vector{0.0});
  cross_entropy(logits(), Tokens({3}, {0, -100, 1}), {.divisor = 0.5});
  CHECK(counts() == std::vector{0.5});
  linear_cross_entropy(x, weight, Tokens({3}, {0, -100, 1}));
  CHECK(counts() == std::vector{2.0});
  linear_cross_entropy(x, weight, Tokens({3}, {0, -100, 1}), {.divisor = 6.0});
  CHECK(counts() == std::vector{6.0});
}

TEST_CASE("cross entropy: is finite for huge logits", "[autograd]") {
  for (const float huge : {1e4F, 1e38F})
    for (const double smoothing : {0.0, 0.1}) {
      Parameter<float> logits(Tensor<float>({2, 3}, {huge, -huge, -huge, -huge, huge, huge}));
      Tape<float> tape;
      const auto loss = cross_entropy(tape.parameter(logits), Tokens({2}, {0, 0}),
                                      {.label_smoothing = smoothing});
      CHECK(std::isfinite(loss.item()));
      tape.backward(loss);
      for (const float g : logits.grad()) CHECK(std::isfinite(g));
    }
}

TEMPLATE_TEST_CASE("cross entropy: is finite where the mean is, though no row's loss need be",
                   "[autograd]", float, double) {
  const TestType huge = std::numeric_limits<TestType>::max() * TestType{0.75};
  const auto loss_of = [&](const Tokens& targets, const CrossEntropyOptions& options) {
    Parameter<TestType> logits(Tensor<TestType>({2, 2}, {huge, -huge, huge, -huge}));
    Tape<TestType> tape;
    const auto loss = cross_entropy(tape.parameter(logits), targets, options);
    tape.backward(loss);
    for (const TestType g : logits.grad()) CHECK(std::isfinite(g));
    return loss.item();
  };
  // The rows' losses are 2 huge and 0, or with a smoothing of 1 both huge.
  CHECK(loss_of(Tokens({2}, {1, 0}), {}) == Approx(huge));
  for (const TokenId target : {0, 1})
    CHECK(loss_of(Tokens({2}, {target, target}), {.label_smoothing = 1.0}) == Approx(huge));
  CHECK(loss_of(Tokens({2}, {1, -100}), {.label_smoothing = 0.5, .divisor = 2.0}) ==
        Approx(huge * 0.75));
  CHECK(loss_of(Tokens({2}, {1, 1}), {.divisor = 1e6}) == Approx(huge * 4e-6));
}

TEST_CASE("cross entropy: equal huge logits share the gradient equally", "[autograd]") {
  for (const float huge : {2e4F, 1e38F}) {
    Parameter<float> logits(Tensor<float>({1, 2}, {huge, huge}));
    Tape<float> tape;
    tape.backward(cross_entropy(tape.parameter(logits), Tokens({1}, {0})));
    CHECK(logits.grad()(0, 0) == Approx(-0.5));
    CHECK(logits.grad()(0, 1) == Approx(0.5));
  }
}

TEST_CASE(
    "cross entropy: a class of probability 0 costs nothing with a smoothing of 0, and its "
    "target nothing with 1",
    "[autograd]") {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  Tape<float> tape;
  const auto logits = tape.constant(Tensor<float>({1, 3}, {0, 0, -infinity}));
  CHECK(cross_entropy(logits, Tokens({1}, {0})).item() == Approx(std::log(2.0)));
  CHECK(cross_entropy(logits, Tokens({1}, {2}), {.label_smoothing = 1.0}).item() == infinity);
}

TEST_CASE("cross entropy: is 0 with zero gradient when every target is ignored", "[autograd]") {
  Parameter<float> logits(Tensor<float>({1, 3}, {1, 2, 3}));
  Tape<float> tape;
  const auto loss = cross_entropy(tape.parameter(logits), Tokens({1}, {-100}));
  CHECK(loss.item() == 0.0F);
  tape.backward(loss);
  for (const float g : logits.grad()) CHECK(g == 0.0F);
}

TEST_CASE("cross entropy: invalid targets, shapes and options throw", "[autograd]") {
  Tape<float> tape;
  const auto logits = tape.constant(Tensor<float>({2, 3}));
  CHECK_THROWS_WITH(
      cross_entropy(logits, Tokens({2}, {0, 3})),
      "cross_entropy: target at [1]: expected a class from 0 to 2 or ignore_index -100, got 3");
  CHECK_THROWS_WITH(
      cross_entropy(logits, Tokens({2}, {-1, 0})),
      "cross_entropy: target at [0]: expected a class from 0 to 2 or ignore_index -100, got -1");
  CHECK_THROWS_WITH(
      cross_entropy(logits, Tokens({3}, {0, 0, 0})),
      "cross_entropy: expected logits [..., classes] and targets [...], got [2, 3] and [3]");
  CHECK_THROWS_WITH(cross_entropy(tape.constant(Tensor<float>({2, 0})), Tokens({2}, {-100, -100})),
                    "cross_entropy: expected logits of at least one class, got [2, 0]");
  CHECK_THROWS_WITH(cross_entropy(logits, Tokens({2}, {0, 0}), {.label_smoothing = 1.5}),
                    "cross_entropy: label_smoothing: expected a number from 0 to 1, got 1.5");
  CHECK_THROWS_WITH(cross_entropy(logits, Tokens({2}, {0, 0}), {.divisor = 0.0}),
                    "cross_entropy: divisor: expected a finite number > 0, got 0");
}

TEST_CASE("cross entropy: the divisor must be finite", "[autograd]") {
  Tape<float> tape;
  const auto logits = tape.constant(Tensor<float>({1, 3}));
  CHECK_THROWS_AS(
      cross_entropy(logits, Tokens({1}, {0}), {.divisor = std::numeric_limits<double>::infinity()}),
      ValueError);
}

TEST_CASE("cross entropy: the same bits on 1, 2, 3 and 8 threads", "[autograd]") {
  Random random(6);
  Parameter<float> logits(random.normal_tensor<float>({900, 43}));
  Tokens targets({900});
  for (TokenId& target : targets) target = static_cast<TokenId>(random.below(43));
  check_same_bits([&] {
    Tape<float> tape;
    const auto loss =
        cross_entropy(tape.parameter(logits), targets, {.ignore_index = 3, .label_smoothing = 0.1});
    logits.zero_grad();
    tape.backward(loss);
    return std::vector<Tensor<float>>{loss.value(), logits.grad().clone()};
  });
}

namespace {

// Of 0 … 6, with some that are ignored.
Tokens targets_of(const Shape& shape) {
  Tokens targets = random_tokens(shape, 7);
  for (Index i = 2; i < targets.size(); i += 3) targets.data()[i] = -100;
  return targets;
}

const GradientRows registered({
    {"linear_cross_entropy",
     "with ignored targets",
     {{2, 3, 4}, {7, 4}},
     {{2, 900, 12}, {7, 12}},
     [](const auto& x) {
       return linear_cross_entropy(x[0], x[1], targets_of(x[0].shape().without(-1)));
     }},
    {"linear_cross_entropy",
     "with a smoothing and a divisor",
     {{3, 4}, {7, 4}},
     {{1100, 12}, {7, 12}},
     [](const auto& x) {
       return linear_cross_entropy(x[0], x[1], random_tokens(x[0].shape().without(-1), 7),
                                   {.label_smoothing = 0.2, .divisor = 3.0});
     }},
});

}  // namespace

// 1200 targets that count: three strips.
TEMPLATE_TEST_CASE("linear_cross_entropy: is cross_entropy of linear, with its gradients",
                   "[autograd]", float, double) {
  using T = TestType;
  Random random(8);
  const auto x = random.normal_tensor<T>({3, 600, 20}), w = random.normal_tensor<T>({7, 20});
  const Tokens targets = targets_of({3, 600});
  const auto run = [&](const auto& loss_of) {
    Tape<T> tape;
    const Var<T> states = tape.variable(x), weight = tape.variable(w);
    const Var<T> loss = loss_of(states, weight);
    std::vector<Tensor<T>> results{loss.value()};
    for (const Tensor<T>& gradient : tape.gradients(scale(loss, 2.5), {states, weight}))
      results.push_back(gradient);
    return results;
  };
  const CrossEntropyOptions options{.label_smoothing = 0.1};
  const auto whole = run([&](const Var<T>& a, const Var<T>& b) {
    return cross_entropy(linear(a, b), targets, options);
  });
  const auto in_strips = run([&](const Var<T>& a, const Var<T>& b) {
    return linear_cross_entropy(a, b, targets, options);
  });
  const double bound = std::is_same_v<T, double> ? 1e-12 : 1e-5;
  for (std::size_t i = 0; i < whole.size(); ++i) CHECK(distance(in_strips[i], whole[i]) < bound);
  Tape<T> inference = Tape<T>::inference();
  CHECK(same(
      linear_cross_entropy(inference.constant(x), inference.constant(w), targets, options).value(),
      in_strips[0]));
  check_same_bits([&] {
    return run([&](const Var<T>& a, const Var<T>& b) {
      return linear_cross_entropy(a, b, targets, options);
    });
  });
}

TEST_CASE("linear_cross_entropy: computes no gradient of a weight that is frozen", "[autograd]") {
  Random random(8);
  Parameter<float> weight(random.normal_tensor<float>({7, 20})),
      x(random.normal_tensor<float>({5, 20}));
  weight.set_requires_grad(false);
  Tape<float> tape;
  tape.backward(linear_cross_entropy(tape.parameter(x), tape.parameter(weight), Tokens({5})));
  CHECK(x.has_grad());
  CHECK(!weight.has_grad());
  // And 0 where every target is ignored.
  weight.set_requires_grad(true);
  x.zero_grad();
  const auto loss = linear_cross_entropy(tape.parameter(x), tape.parameter(weight),
                                         Tokens({5}, {-100, -100, -100, -100, -100}));
  CHECK(loss.item() == 0.0F);
  tape.backward(loss);
  for (const float g : x.grad()) CHECK(g == 0.0F);
  for (const float g : weight.grad()) CHECK(g == 0.0F);
}

TEST_CASE("linear_cross_entropy: invalid targets and shapes throw", "[autograd]") {
  Tape<float> tape;
  const auto x = tape.constant(Tensor<float>({2, 4})), w = tape.constant(Tensor<float>({3, 4}));
  CHECK_THROWS_WITH(
      linear_cross_entropy(x, w, Tokens({2}, {0, 3})),
      "cross_entropy: target at [1]: expected a class from 0 to 2 or ignore_index -100, got 3");
  CHECK_THROWS_WITH(
      linear_cross_entropy(x, w, Tokens({3})),
      "cross_entropy: expected logits [..., classes] and targets [...], got [2, 3] and [3]");
  CHECK_THROWS_WITH(linear_cross_entropy(w, tape.constant(Tensor<float>({3, 5})), Tokens({3})),
                    "linear_cross_entropy: expected input [..., in] and weight [classes, in], got "
                    "[3, 4] and [3, 5]");
}

}  // namespace weft
