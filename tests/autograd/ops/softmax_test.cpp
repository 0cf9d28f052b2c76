#include <cmath>
#include <limits>

#include <weft/autograd/ops/softmax.hpp>
#include <weft/autograd/random.hpp>
#include "tests/autograd/gradient_table.hpp"
#include "tests/catch.hpp"

namespace weft {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

Tensor<float> masked(const Tensor<float>& scores, const Mask& mask) {
  Tape<float> tape;
  return masked_softmax(tape.constant(scores), mask).value();
}

}  // namespace

TEMPLATE_TEST_CASE("softmax: the weights of 1, 2, 3", "[autograd]", float, double) {
  Tape<TestType> tape;
  const auto y = softmax(tape.constant(Tensor<TestType>({1, 3}, {1, 2, 3}))).value();
  CHECK(y(0, 0) == Approx(0.09003057317));
  CHECK(y(0, 1) == Approx(0.2447284711));
  CHECK(y(0, 2) == Approx(0.6652409558));
  const auto log_y = log_softmax(tape.constant(Tensor<TestType>({1, 3}, {1, 2, 3}))).value();
  CHECK(log_y(0, 0) == Approx(-2.407605964));
  CHECK(log_y(0, 2) == Approx(-0.4076059644));
}

TEST_CASE("softmax: each row sums to one, also over several threads' ranges", "[autograd]") {
  Tape<float> tape;
  Random random(1);
  const auto y = softmax(tape.constant(random.normal_tensor<float>({500, 43}, 0.0, 5.0))).value();
  for (Index row = 0; row < 500; ++row) {
    double sum = 0.0;
    for (Index j = 0; j < 43; ++j) sum += static_cast<double>(y(row, j));
    CHECK(sum == Approx(1.0).epsilon(1e-6));
  }
}

TEST_CASE("softmax: huge scores give finite weights", "[autograd]") {
  Tape<float> tape;
  for (const float huge : {1e4F, 1e38F}) {
    const auto y = softmax(tape.constant(Tensor<float>({1, 3}, {huge, -huge, huge}))).value();
    CHECK(y(0, 0) == Approx(0.5));
    CHECK(y(0, 1) == 0.0F);
    const auto log_y =
        log_softmax(tape.constant(Tensor<float>({1, 3}, {huge, -huge, huge}))).value();
    CHECK(log_y(0, 0) == Approx(-std::log(2.0)));
    CHECK(std::isfinite(log_y(0, 1)));
  }
}

TEST_CASE("softmax: NaN propagates in its row only", "[autograd]") {
  Tape<float> tape;
  const auto y = softmax(tape.constant(Tensor<float>({2, 2}, {nan, 1, 1, 1}))).value();
  CHECK(std::isnan(y(0, 0)));
  CHECK(y(1, 0) == 0.5F);
}

TEST_CASE("softmax: an empty last axis gives an empty result, a scalar throws", "[autograd]") {
  Tape<float> tape;
  CHECK(softmax(tape.constant(Tensor<float>({2, 0}))).shape() == Shape{2, 0});
  CHECK(log_softmax(tape.constant(Tensor<float>({0, 3}))).shape() == Shape{0, 3});
  CHECK_THROWS_WITH(softmax(tape.constant(Tensor<float>(Shape{}))),
                    "softmax: expected at least one axis, got []");
}

TEST_CASE("masked softmax: keys past the length have weight 0, whatever their scores",
          "[autograd]") {
  const auto y =
      masked(Tensor<float>({2, 1, 3}, {1, 1, nan, infinity, 0, 0}), {.valid_lens = {2, 0}});
  CHECK(y(0, 0, 0) == 0.5F);
  CHECK(y(0, 0, 1) == 0.5F);
  CHECK(y(0, 0, 2) == 0.0F);
  for (Index key = 0; key < 3; ++key) CHECK(y(1, 0, key) == 0.0F);
}

TEST_CASE("masked softmax: a length for each query", "[autograd]") {
  const Tensor<std::int32_t> lengths({1, 2}, {1, 3});
  const auto y = masked(Tensor<float>({1, 2, 3}), {.valid_lens = ValidLens(lengths)});
  CHECK(y(0, 0, 0) == 1.0F);
  CHECK(y(0, 0, 1) == 0.0F);
  CHECK(y(0, 1, 2) == Approx(1.0 / 3.0));
}

TEST_CASE("masked softmax: a causal mask, also with more keys than queries", "[autograd]") {
  const auto square = masked(Tensor<float>({1, 2, 2}), {.causal = true});
  CHECK(square(0, 0, 0) == 1.0F);
  CHECK(square(0, 0, 1) == 0.0F);
  CHECK(square(0, 1, 1) == 0.5F);
  const auto wide = masked(Tensor<float>({1, 2, 3}), {.causal = true});
  CHECK(wide(0, 0, 1) == 0.5F);
  CHECK(wide(0, 0, 2) == 0.0F);
  CHECK(wide(0, 1, 2) == Approx(1.0 / 3.0));
}

TEST_CASE("masked softmax: a boolean mask of each shape", "[autograd]") {
  const auto all =
      masked(Tensor<float>({2, 2, 1, 2}), {.allowed = Tensor<bool>({1, 1, 2}, {false, true})});
  CHECK(all(1, 1, 0, 1) == 1.0F);
  const auto by_key = masked(Tensor<float>({2, 2, 1, 2}),
                             {.keys = Tensor<bool>({2, 2}, {false, true, true, true})});
  CHECK(by_key(0, 1, 0, 1) == 1.0F);
  CHECK(by_key(1, 1, 0, 1) == 0.5F);
  const auto by_sequence = masked(Tensor<float>({2, 2, 1, 2}),
                                  {.allowed = Tensor<bool>({2, 1, 2}, {false, true, true, true})});
  CHECK(by_sequence(0, 1, 0, 1) == 1.0F);
  CHECK(by_sequence(1, 1, 0, 1) == 0.5F);
  const auto by_head = masked(Tensor<float>({1, 2, 1, 2}),
                              {.allowed = Tensor<bool>({1, 2, 1, 2}, {false, false, true, false})});
  CHECK(by_head(0, 0, 0, 0) == 0.0F);
  CHECK(by_head(0, 1, 0, 0) == 1.0F);
}

TEST_CASE("masked softmax: a bias is added to the scores, and -infinity masks any score",
          "[autograd]") {
  const Tensor<float> bias({1, 1, 3}, {1, 0, -infinity});
  const auto y = masked(Tensor<float>({1, 1, 3}, {1, 2, nan}), {.bias = bias});
  CHECK(y(0, 0, 0) == 0.5F);
  CHECK(y(0, 0, 1) == 0.5F);
  CHECK(y(0, 0, 2) == 0.0F);
  // With the other parts of a mask: each masks another key, and none is left.
  const auto none =
      masked(Tensor<float>({1, 1, 3}), {.valid_lens = {2},
                                        .allowed = Tensor<bool>({1, 1, 3}, {false, true, true}),
                                        .bias = Tensor<float>({1, 1, 3}, {0, -infinity, 0})});
  for (Index key = 0; key < 3; ++key) CHECK(none(0, 0, key) == 0.0F);
}

TEST_CASE("masked softmax: a mask that does not match throws", "[autograd]") {
  const Tensor<float> scores({2, 3, 4});
  CHECK_THROWS_WITH(masked(scores, {.valid_lens = {1, 2, 3}}),
                    "masked_softmax: valid_lens: expected shape [2] or [2, 3], got [3]");
  CHECK_THROWS_WITH(masked(scores, {.valid_lens = {1, 5}}),
                    "masked_softmax: valid_lens: expected lengths from 0 to 4, got 5");
  CHECK_THROWS_WITH(masked(scores, {.valid_lens = {1, -1}}),
                    "masked_softmax: valid_lens: expected lengths from 0 to 4, got -1");
  CHECK_THROWS_WITH(
      masked(scores, {.allowed = Tensor<bool>({3, 3})}),
      "masked_softmax: mask.allowed: expected shape [2, 3, 4] or [2, 1, 3, 4], where the batch and "
      "the heads may be 1 (a mask of keys is mask.keys), got [3, 3]");
  CHECK_THROWS_WITH(
      masked(Tensor<float>({3, 4}), {}),
      "masked_softmax: expected [batch, queries, keys] or [batch, heads, queries, keys], "
      "got [3, 4]");
  CHECK_THROWS_WITH(ValidLens(Tensor<std::int32_t>({1, 2, 3})),
                    "valid_lens: expected shape [batch] or [batch, num_queries], got [1, 2, 3]");
}

namespace {

std::vector<GradientCase> gradient_rows() {
  return {
      {"softmax",
       "over rows",
       {{2, 3, 5}},
       {{3, 300, 20}},
       [](const auto& x) { return softmax(x[0]); }},
      {"softmax",
       "over rows of one element",
       {{3, 1}},
       {{10000, 1}},
       [](const auto& x) { return softmax(x[0]); }},
      {"log_softmax",
       "over rows",
       {{2, 3, 5}},
       {{3, 300, 20}},
       [](const auto& x) { return log_softmax(x[0]); }},
      {"masked_softmax",
       "with a length for each sequence",
       {{2, 3, 4}},
       {{60, 15, 12}},
       [](const auto& x) {
         const Shape& scores = x[0].shape();
         return masked_softmax(x[0], {.valid_lens = random_lengths({scores[0]}, scores[-1])});
       }},
      {"masked_softmax",
       "with a length for each query",
       {{2, 2, 4}},
       {{60, 15, 12}},
       [](const auto& x) {
         const Shape& scores = x[0].shape();
         return masked_softmax(x[0],
                               {.valid_lens = random_lengths(scores.without(-1), scores[-1])});
       }},
      {"masked_softmax",
       "causal, with heads",
       {{1, 2, 3, 3}},
       {{10, 5, 18, 18}},
       [](const auto& x) { return masked_softmax(x[0], {.causal = true}); }},
      {"masked_softmax",
       "with a boolean mask",
       {{2, 2, 3}},
       {{60, 15, 12}},
       [](const auto& x) {
         return masked_softmax(x[0], {.allowed = random_allowed(x[0].shape().with(0, 1))});
       }},
      {"masked_softmax",
       "with lengths and a bias, including -infinity",
       {{2, 2, 3}},
       {{60, 15, 12}},
       [](const auto& x) {
         const Shape& scores = x[0].shape();
         return masked_softmax(x[0], {.valid_lens = random_lengths({scores[0]}, scores[-1]),
                                      .bias = random_bias(scores.with(0, 1))});
       }},
  };
}

const GradientRows registered(gradient_rows());

}  // namespace
}  // namespace weft
