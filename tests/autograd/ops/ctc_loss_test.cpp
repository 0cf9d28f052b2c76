#include <cmath>
#include <limits>
#include <vector>

#include <weft/autograd/ops/ctc_loss.hpp>
#include <weft/autograd/ops/softmax.hpp>
#include <weft/autograd/random.hpp>
#include "tests/autograd/gradient_table.hpp"
#include "tests/autograd/same_bits.hpp"
#include "tests/catch.hpp"

namespace weft {
namespace {

// -log of the summed probabilities of all class sequences that become `labels`, one by one.
double loss_of_all_alignments(const Tensor<double>& probabilities,
                              const std::vector<TokenId>& labels) {
  const Index time = probabilities.shape()[0], classes = probabilities.shape()[1];
  double sum = 0.0;
  Index alignments = 1;
  for (Index t = 0; t < time; ++t) alignments *= classes;
  for (Index code = 0; code < alignments; ++code) {
    std::vector<TokenId> emitted;
    double probability = 1.0;
    TokenId before = 0;
    Index rest = code;
    for (Index t = 0; t < time; ++t, rest /= classes) {
      const auto emission = static_cast<TokenId>(rest % classes);
      probability *= probabilities(t, emission);
      if (emission != 0 && emission != before) emitted.push_back(emission);
      before = emission;
    }
    if (emitted == labels) sum += probability;
  }
  return -std::log(sum);
}

Tensor<double> logs(const Tensor<double>& probabilities) {
  Tensor<double> result = probabilities.clone();
  for (double& p : result) p = std::log(p);
  return result;
}

Tokens labels_without_blank(const Shape& shape, Index classes) {
  Tokens labels = random_tokens(shape, classes - 1);
  for (TokenId& label : labels) ++label;
  return labels;
}

}  // namespace

TEST_CASE("CTC loss: two inputs and one label, computed by hand", "[autograd]") {
  Tape<double> tape;
  const Tensor<double> p({1, 2, 2}, {0.4, 0.6, 0.3, 0.7});
  const auto loss = [&](const Tokens& labels, std::int32_t length) {
    return ctc_loss(tape.constant(logs(p)), labels, {}, {length}).item();
  };
  // "a-", "-a" and "aa"
  CHECK(loss(Tokens({1, 1}, {1}), 1) == Approx(-std::log(0.6 * 0.3 + 0.4 * 0.7 + 0.6 * 0.7)));
  CHECK(loss(Tokens({1, 1}, {77}), 0) == Approx(-std::log(0.4 * 0.3)));
}

TEST_CASE("CTC loss: is the sum over all alignments", "[autograd]") {
  Tape<double> tape;
  const Index time = 5, classes = 3;
  const auto probabilities =
      softmax(tape.constant(Random(3).normal_tensor<double>({time, classes}))).value();
  const auto x = logs(probabilities).reshaped({1, time, classes});
  for (const std::vector<TokenId>& labels :
       {std::vector<TokenId>{}, {1}, {2, 1}, {1, 1}, {2, 2, 2}, {1, 2, 1}, {1, 1, 2}}) {
    const auto length = static_cast<std::int32_t>(labels.size());
    const auto loss = ctc_loss(tape.constant(x), Tokens({1, length}, labels), {}, {},
                               {.reduction = Reduction::sum});
    CHECK(loss.item() == Approx(loss_of_all_alignments(probabilities, labels)).epsilon(1e-12));
  }
}

TEMPLATE_TEST_CASE("CTC loss: an impossible alignment is infinite, or 0, without a gradient",
                   "[autograd]", float, double) {
  const TestType infinity = std::numeric_limits<TestType>::infinity();
  const Tokens labels({3, 2}, {1, 1, 1, 2, 1, 2});  // two equal labels need three inputs
  for (const bool zero : {false, true}) {
    Parameter<TestType> x(Tensor<TestType>::full({3, 2, 3}, -1));
    Tape<TestType> tape;
    const auto losses = ctc_loss(tape.parameter(x), labels, {2, 2, 0}, {},
                                 {.zero_infinity = zero, .reduction = Reduction::none});
    CHECK(losses.value()(0) == (zero ? TestType(0) : infinity));
    CHECK(losses.value()(1) == Approx(2));
    CHECK(losses.value()(2) == (zero ? TestType(0) : infinity));
    tape.backward(losses, Tensor<TestType>::full({3}, 1));
    const Tensor<TestType> expected({3, 2, 3},
                                    {0, 0, 0, 0, 0, 0, 0, -1, 0, 0, 0, -1, 0, 0, 0, 0, 0, 0});
    for (Index i = 0; i < expected.size(); ++i)
      CHECK(x.grad().data()[i] == Approx(expected.data()[i]));
  }
  Tape<TestType> tape;
  const auto no_inputs = tape.constant(Tensor<TestType>({1, 0, 3}));
  CHECK(ctc_loss(no_inputs, Tokens({1, 0})).item() == 0);
  CHECK(ctc_loss(no_inputs, Tokens({1, 1}, {1})).item() == infinity);
}

TEST_CASE("CTC loss: a NaN among the inputs of a sequence is in its loss, a padded one is not",
          "[autograd]") {
  Tape<double> tape;
  for (const Index at : {0, 3, 8, 14}) {
    Tensor<double> x = Tensor<double>::full({1, 5, 3}, -1.0);
    x.data()[at] = std::numeric_limits<double>::quiet_NaN();
    const Tokens labels({1, 2}, {1, 2});
    CHECK(std::isnan(ctc_loss(tape.constant(x), labels, {3}).item()) == (at < 9));
  }
}

TEST_CASE("CTC loss: arguments that do not match throw", "[autograd]") {
  Tape<float> tape;
  const auto x = tape.constant(Tensor<float>({2, 4, 3}));
  const Tokens labels({2, 2}, {1, 2, 2, 1});
  CHECK_THROWS_WITH(ctc_loss(x, Tokens({3, 2})),
                    "ctc_loss: expected log-probabilities [batch, time, classes] and targets "
                    "[batch, labels], got [2, 4, 3] and [3, 2]");
  CHECK_THROWS_AS(ctc_loss(tape.constant(Tensor<float>({2, 3})), labels), ShapeError);
  CHECK_THROWS_WITH(ctc_loss(x, labels, ValidLens(Tensor<std::int32_t>({2, 1}, {1, 1}))),
                    "ctc_loss: expected lengths [batch], got [2, 1]");
  CHECK_THROWS_AS(ctc_loss(x, labels, {4, 5}), ValueError);
  CHECK_THROWS_AS(ctc_loss(x, labels, {4}), ShapeError);
  CHECK_THROWS_AS(ctc_loss(x, labels, {}, {3, 1}), ValueError);
  CHECK_THROWS_WITH(ctc_loss(x, labels, {}, {}, {.blank = 3}),
                    "ctc_loss: blank: expected a class from 0 to 2, got 3");
  CHECK_THROWS_WITH(
      ctc_loss(x, labels, {}, {}, {.blank = 2}),
      "ctc_loss: target at [0, 1]: expected a class from 0 to 2 except blank 2, got 2");
  CHECK_THROWS_AS(ctc_loss(x, Tokens({2, 2}, {1, 2, -1, 1})), ValueError);
  CHECK_THROWS_AS(ctc_loss(x, Tokens({2, 2}, {1, 2, 3, 1})), ValueError);
  CHECK_NOTHROW(ctc_loss(x, Tokens({2, 2}, {1, -1, 1, 99}), {}, {1, 1}));
  CHECK_THROWS_AS(ctc_loss(tape.constant(Tensor<float>({0, 4, 3})), Tokens({0, 2})), ShapeError);
}

TEST_CASE("CTC loss: the same bits on 1, 2, 3 and 8 threads", "[autograd]") {
  Parameter<float> x(Random(12).normal_tensor<float>({19, 30, 7}));
  const Tokens labels = labels_without_blank({19, 8}, 7);
  check_same_bits([&] {
    Tape<float> tape;
    x.zero_grad();
    const auto loss = ctc_loss(tape.parameter(x), labels);
    tape.backward(loss);
    return std::vector<Tensor<float>>{loss.value(), x.grad().clone()};
  });
}

namespace {

const GradientRows registered({
    {"ctc_loss",
     "padded, with equal labels and one without labels",
     {{3, 5, 4}},
     {{3, 40, 300}},
     [](const auto& x) {
       return ctc_loss(x[0], Tokens({3, 3}, {1, 1, 2, 3, 2, 1, 0, 0, 0}), {5, 3, 4}, {3, 2, 0});
     }},
    {"ctc_loss",
     "the losses themselves, with another blank",
     {{4, 6, 3}},
     {{4, 40, 300}},
     [](const auto& x) {
       return ctc_loss(x[0], Tokens({4, 2}, {1, 1, 0, 1, 1, 0, 0, 0}), {}, {},
                       {.blank = 2, .reduction = Reduction::none});
     }},
});

}  // namespace
}  // namespace weft
