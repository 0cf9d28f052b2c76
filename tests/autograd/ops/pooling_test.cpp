#include <algorithm>
#include <limits>
#include <vector>

#include <weft/autograd/ops/pooling.hpp>
#include <weft/autograd/random.hpp>
#include "tests/autograd/gradient_table.hpp"
#include "tests/autograd/same_bits.hpp"
#include "tests/catch.hpp"
#include "tests/compare.hpp"
#include "tests/messages.hpp"

namespace weft {
namespace {

// Two channels, the second of them negative.
Var<float> four_positions(Tape<float>& tape) {
  return tape.constant(Tensor<float>({1, 4, 2}, {1, -1, 4, -4, 2, -2, 3, -3}));
}

}  // namespace

TEST_CASE("max pool: the maximum of each channel in each window", "[autograd]") {
  Tape<float> tape;
  const Var x = four_positions(tape);
  const auto pooled = [&](const UnfoldOptions& options) { return max_pool(x, options).value(); };
  CHECK(same(pooled({.size = 2}), Tensor<float>({1, 3, 2}, {4, -1, 4, -2, 3, -2})));
  CHECK(same(pooled({.size = 2, .stride = 2}), Tensor<float>({1, 2, 2}, {4, -1, 3, -2})));
  CHECK(same(pooled({.size = 2, .dilation = 2}), Tensor<float>({1, 2, 2}, {2, -1, 4, -3})));
  CHECK(same(pooled({.size = 1, .dilation = 9, .stride = 3}),
             Tensor<float>({1, 2, 2}, {1, -1, 3, -3})));
}

TEST_CASE("max pool: padding is never the maximum", "[autograd]") {
  Tape<float> tape;
  const Var x = four_positions(tape);
  const auto pooled = [&](const UnfoldOptions& options) { return max_pool(x, options).value(); };
  CHECK(same(pooled({.size = 2, .stride = 2, .before = 1}),
             Tensor<float>({1, 2, 2}, {1, -1, 4, -2})));
  CHECK(
      same(pooled({.size = 2, .stride = 3, .after = 1}), Tensor<float>({1, 2, 2}, {4, -1, 3, -3})));
  CHECK(same(pooled({.size = 3, .dilation = 2, .stride = 3, .before = 3, .after = 1}),
             Tensor<float>({1, 2, 2}, {4, -4, 2, -1})));
}

TEST_CASE("average pool: the mean of each channel in each window, without padding", "[autograd]") {
  Tape<float> tape;
  const Var x = four_positions(tape);
  const auto pooled = [&](const UnfoldOptions& options) {
    return average_pool(x, options).value();
  };
  CHECK(
      same(pooled({.size = 2, .stride = 2}), Tensor<float>({1, 2, 2}, {2.5F, -2.5F, 2.5F, -2.5F})));
  CHECK(same(pooled({.size = 2, .dilation = 2}),
             Tensor<float>({1, 2, 2}, {1.5F, -1.5F, 3.5F, -3.5F})));
  CHECK(same(pooled({.size = 3, .stride = 2, .before = 1, .after = 1}),
             Tensor<float>({1, 2, 2}, {2.5F, -2.5F, 3, -3})));
  CHECK(
      same(pooled({.size = 6, .before = 1, .after = 1}), Tensor<float>({1, 1, 2}, {2.5F, -2.5F})));
}

TEST_CASE("average pool: the gradient is divided among the positions of a window", "[autograd]") {
  Parameter<float> x(Tensor<float>({1, 4, 1}));
  Tape<float> tape;
  const Var y = average_pool(tape.parameter(x), {.size = 3, .before = 1, .after = 1});
  // Windows of 2, 3, 3 and 2 positions.
  tape.backward(y, Tensor<float>({1, 4, 1}, {2, 30, 300, 4000}));
  CHECK(same(x.grad(), Tensor<float>({1, 4, 1}, {11, 111, 2110, 2100})));
}

TEST_CASE("max pool: the gradient goes to the first position of the maximum", "[autograd]") {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const auto gradient = [](const std::vector<float>& values) {
    Parameter<float> x(Tensor<float>({1, 4, 1}, values));
    Tape<float> tape;
    tape.backward(max_pool(tape.parameter(x), {.size = 3}), Tensor<float>({1, 2, 1}, {1, 10}));
    return std::vector<float>(x.grad().begin(), x.grad().end());
  };
  CHECK(gradient({2, 2, 1, 2}) == std::vector<float>{1, 10, 0, 0});
  CHECK(gradient({1, 3, 3, 0}) == std::vector<float>{0, 11, 0, 0});
  CHECK(gradient({-infinity, -infinity, -infinity, -1}) == std::vector<float>{1, 0, 0, 10});
  CHECK(gradient({-infinity, -infinity, -infinity, -infinity}) == std::vector<float>{1, 10, 0, 0});
  CHECK(gradient({nan, 1, nan, infinity}) == std::vector<float>{1, 0, 10, 0});
}

TEST_CASE("pooling: NaN is in the results of its windows only", "[autograd]") {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  Tape<float> tape;
  const Var x = tape.constant(Tensor<float>({1, 5, 1}, {1, nan, 3, 5, 4}));
  for (const Var<float>& y : {max_pool(x, {.size = 2}), average_pool(x, {.size = 2})}) {
    CHECK(y.value()(0, 0, 0) != y.value()(0, 0, 0));
    CHECK(y.value()(0, 1, 0) != y.value()(0, 1, 0));
  }
  CHECK(max_pool(x, {.size = 2}).value()(0, 2, 0) == 5);
  CHECK(average_pool(x, {.size = 2}).value()(0, 3, 0) == 4.5F);
}

TEST_CASE("pooling: invalid inputs and options throw", "[autograd]") {
  Tape<float> tape;
  const Var x = tape.constant(Tensor<float>({2, 4, 3}));
  CHECK(message_of<ShapeError>([&] {
          max_pool(tape.constant(Tensor<float>({4, 3})), {});
        }) == "max_pool: expected shape [batch, time, channels], got [4, 3]");
  CHECK(message_of<ShapeError>([&] { average_pool(x, {.size = 4, .dilation = 2, .after = 2}); }) ==
        "average_pool: expected at least 7 positions with padding, got 6 for an input of shape "
        "[2, 4, 3]");
  CHECK(message_of<ValueError>([&] { max_pool(x, {.stride = 0}); }) ==
        "max_pool: expected size, dilation and stride ≥ 1, got 1, 1 and 0");
  CHECK(message_of<ValueError>([&] { average_pool(x, {.after = -1}); }) ==
        "average_pool: expected before and after ≥ 0, got 0 and -1");
  const std::string windows =
      ": expected windows that contain positions of the sequence, got only "
      "padding in window ";
  CHECK(message_of<ValueError>([&] { max_pool(x, {.size = 2, .before = 2}); }) ==
        "max_pool" + windows + "0");
  CHECK(message_of<ValueError>([&] { average_pool(x, {.size = 2, .after = 2}); }) ==
        "average_pool" + windows + "4");
  CHECK(message_of<ValueError>([&] {
          max_pool(x, {.size = 2, .dilation = 5, .before = 2, .after = 2});
        }) == "max_pool" + windows + "1");
  CHECK_NOTHROW(max_pool(x, {.size = 2, .before = 1, .after = 1}));
}

TEMPLATE_TEST_CASE("pooling at size: the elements of each window", "[autograd]", float, double) {
  const Index batch = 20, time = 301, channels = 10;
  const auto x = Random(3).normal_tensor<TestType>({batch, time, channels});
  const UnfoldOptions options{.size = 4, .dilation = 2, .stride = 3, .before = 3, .after = 2};
  Tape<TestType> tape;
  const Tensor<TestType> largest = max_pool(tape.constant(x), options).value();
  const Tensor<TestType> means = average_pool(tape.constant(x), options).value();
  const Index windows = (time + 5 - 7) / 3 + 1;
  REQUIRE(largest.shape() == Shape{batch, windows, channels});
  REQUIRE(means.shape() == largest.shape());
  Tensor<double> expected_largest(largest.shape()), expected_means(largest.shape());
  for (Index b = 0; b < batch; ++b)
    for (Index window = 0; window < windows; ++window)
      for (Index c = 0; c < channels; ++c) {
        std::vector<double> elements;
        for (Index i = window * 3 - 3; i < window * 3 + 4; i += 2)
          if (i >= 0 && i < time) elements.push_back(static_cast<double>(x(b, i, c)));
        expected_largest(b, window, c) = *std::max_element(elements.begin(), elements.end());
        double sum = 0.0;
        for (const double element : elements) sum += element;
        expected_means(b, window, c) = sum / static_cast<double>(elements.size());
      }
  CHECK(distance(largest, expected_largest) == 0.0);
  CHECK(distance(means, expected_means) < 1e-6);
}

TEST_CASE("pooling: the same bits on 1, 2, 3 and 8 threads", "[autograd]") {
  Random random(8);
  Parameter<float> x(random.normal_tensor<float>({5, 300, 32}));
  const auto upstream = random.normal_tensor<float>({5, 150, 32});
  check_same_bits([&] {
    std::vector<Tensor<float>> results;
    for (const auto& pool : {max_pool<float>, average_pool<float>}) {
      Tape<float> tape;
      const Var y = pool(tape.parameter(x), {.size = 3, .stride = 2, .before = 1});
      x.zero_grad();
      tape.backward(y, upstream);
      results.insert(results.end(), {y.value(), x.grad().clone()});
    }
    return results;
  });
}

namespace {

std::vector<GradientCase> gradient_rows() {
  return {
      {"max_pool",
       "overlapping windows",
       {distinct({2, 5, 3})},
       {distinct({10, 200, 9})},
       [](const auto& x) { return max_pool(x[0], {.size = 3}); }},
      {"max_pool",
       "with padding, dilation, stride and unused positions",
       {distinct({2, 10, 2})},
       {distinct({20, 402, 10})},
       [](const auto& x) {
         return max_pool(x[0], {.size = 2, .dilation = 2, .stride = 4, .before = 1, .after = 2});
       }},
      {"average_pool",
       "overlapping windows",
       {{2, 5, 3}},
       {{10, 200, 9}},
       [](const auto& x) { return average_pool(x[0], {.size = 3, .stride = 2, .before = 2}); }},
      {"average_pool",
       "with padding, dilation, stride and unused positions",
       {{2, 10, 2}},
       {{20, 402, 10}},
       [](const auto& x) {
         return average_pool(x[0],
                             {.size = 2, .dilation = 2, .stride = 4, .before = 1, .after = 2});
       }},
  };
}

const GradientRows registered(gradient_rows());

}  // namespace
}  // namespace weft
