#include <algorithm>
#include <limits>
#include <numeric>

#include <weft/autograd/ops/topk.hpp>
#include <weft/autograd/random.hpp>
#include "tests/autograd/gradient_table.hpp"
#include "tests/autograd/same_bits.hpp"
#include "tests/catch.hpp"
#include "tests/compare.hpp"

namespace weft {
namespace {

using Positions = std::vector<std::int32_t>;

template <class T>
std::vector<T> values(const Tensor<T>& tensor) {
  return {tensor.begin(), tensor.end()};
}

}  // namespace

TEMPLATE_TEST_CASE("argmax, argmin: values computed by hand", "[autograd]", float, double) {
  const Tensor<TestType> x({2, 3}, {3, 9, 1, 4, 2, 8});
  CHECK(values(argmax(x, 1)) == Positions{1, 2});
  CHECK(values(argmin(x, -1)) == Positions{2, 1});
  CHECK(values(argmax(x, 0)) == Positions{1, 0, 1});
  CHECK(argmax(x, 1).shape() == Shape{2});
  CHECK(argmin(x, 0, true).shape() == Shape{1, 3});
  CHECK(argmax(x) == 1);
  CHECK(argmin(x) == 2);
  Tape<TestType> tape;
  const Var v = tape.constant(x);
  CHECK(values(argmax(v, 1)) == Positions{1, 2});
  CHECK(values(argmin(v, 1, true)) == Positions{2, 1});
  CHECK(argmax(v) == 1);
  CHECK(argmin(v) == 2);
  CHECK(argmax(Tensor<TestType>(Shape{}, {7})) == 0);
}

TEST_CASE("argmax, argmin: the first of equal elements, and the first NaN", "[autograd]") {
  const Tensor<float> x({4}, {2, 5, 5, 2});
  CHECK(argmax(x) == 1);
  CHECK(argmin(x) == 0);
  CHECK(values(argmax(x, 0)) == Positions{1});
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor<float> y({2, 4}, {1, nan, 9, nan, 3, 2, 1, 0});
  CHECK(values(argmax(y, 1)) == Positions{1, 0});
  CHECK(values(argmin(y, 1)) == Positions{1, 3});
  CHECK(argmax(y) == 1);
  CHECK(argmin(y) == 1);
}

TEMPLATE_TEST_CASE("topk: values and positions in order", "[autograd]", float, double) {
  using Values = std::vector<TestType>;
  const Tensor<TestType> x({2, 4}, {3, 9, 1, 4, 2, 8, 7, 8});
  const auto [largest, positions] = topk(x, 2);
  CHECK(values(largest) == Values{9, 4, 8, 8});
  CHECK(values(positions) == Positions{1, 3, 1, 3});
  CHECK(largest.shape() == Shape{2, 2});
  const auto smallest = topk(x, 3, {.largest = false});
  CHECK(values(smallest.values) == Values{1, 3, 4, 2, 7, 8});
  CHECK(values(smallest.indices) == Positions{2, 0, 3, 0, 2, 1});
  const auto columns = topk(x, 1, {.axis = 0});
  CHECK(values(columns.values) == Values{3, 9, 7, 8});
  CHECK(values(columns.indices) == Positions{0, 0, 1, 1});
  CHECK(topk(x, 0).values.shape() == Shape{2, 0});
}

TEST_CASE("topk: NaN counts as the largest", "[autograd]") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor<float> x({5}, {1, nan, 0, nan, 2});
  CHECK(values(topk_indices(x, 5)) == Positions{1, 3, 4, 0, 2});
  CHECK(values(topk_indices(x, 5, {.largest = false})) == Positions{2, 0, 4, 1, 3});
}

TEST_CASE("topk: the gradient goes to the elements taken", "[autograd]") {
  const Parameter<float> p(Tensor<float>({4}, {3, 9, 1, 4}));
  Tape<float> tape;
  tape.backward(topk(tape.parameter(p), 2).values, Tensor<float>({2}, {10, 100}));
  CHECK(values(p.grad()) == std::vector<float>{0, 10, 0, 100});
}

TEST_CASE("argmax, argmin, topk: wrong axes and counts throw", "[autograd]") {
  const Tensor<float> x({2, 3}), none({2, 0});
  CHECK_THROWS_WITH(argmax(none, 1),
                    "argmax: expected 1 to 2^31 - 1 elements on axis 1, got [2, 0]");
  CHECK(argmin(none, 0).shape() == Shape{0});
  CHECK_THROWS_WITH(argmin(none), "argmin: expected at least one element, got [2, 0]");
  CHECK_THROWS_WITH(argmin(x, 2), "argmin: expected an axis of [2, 3], got 2");
  CHECK_THROWS_AS(topk(x, 4), ShapeError);
  CHECK_THROWS_WITH(topk(x, 4), "topk: expected 0 ≤ k ≤ the size of axis 1 of [2, 3], got 4");
  CHECK_THROWS_WITH(topk(x, -1), "topk: expected 0 ≤ k ≤ the size of axis 1 of [2, 3], got -1");
  CHECK_THROWS_WITH(topk(x, 1, {.axis = 2}), "topk: expected an axis of [2, 3], got 2");
}

TEST_CASE("argmax, argmin, topk: at the size of several ranges, on any number of threads",
          "[autograd]") {
  const auto x = Random(3).normal_tensor<float>({30, 50, 130});
  for (const Index axis : {0, 1, 2}) {
    const Indices largest = argmax(x, axis), smallest = argmin(x, axis);
    const Indices order = topk_indices(x, 7, {.axis = axis});
    Index inner = 1;
    for (Index i = axis + 1; i < 3; ++i) inner *= x.shape()[i];
    const Index size = x.shape()[axis];
    Index wrong = 0;
    for (Index i = 0; i < largest.size(); ++i) {
      const float* first = x.data() + i / inner * size * inner + i % inner;
      Positions sorted(static_cast<std::size_t>(size));
      std::iota(sorted.begin(), sorted.end(), 0);
      std::stable_sort(sorted.begin(), sorted.end(),
                       [&](auto a, auto b) { return first[a * inner] > first[b * inner]; });
      wrong += largest.data()[i] != sorted.front();
      wrong += first[smallest.data()[i] * inner] != first[sorted.back() * inner];
      for (Index j = 0; j < 7; ++j)
        wrong += order.data()[(i / inner * 7 + j) * inner + i % inner] !=
                 sorted[static_cast<std::size_t>(j)];
    }
    CHECK(wrong == 0);
  }
  CHECK(argmax(x) == std::max_element(x.begin(), x.end()) - x.begin());
  CHECK(argmin(x) == std::min_element(x.begin(), x.end()) - x.begin());
  check_same_bits([&] {
    return std::vector{argmax(x, 1), argmin(x, 2), topk(x, 3, {.axis = 0}).indices,
                       Indices({1}, {static_cast<std::int32_t>(argmax(x))})};
  });
}

namespace {

std::vector<GradientCase> gradient_rows() {
  return {
      {"topk",
       "the largest of the last axis",
       {distinct({3, 5})},
       {distinct({300, 70})},
       [](const auto& x) { return topk(x[0], 3).values; }},
      {"topk",
       "the smallest of the first axis",
       {distinct({4, 3})},
       {distinct({70, 300})},
       [](const auto& x) { return topk(x[0], 2, {.axis = 0, .largest = false}).values; }},
  };
}

const GradientRows registered(gradient_rows());

}  // namespace
}  // namespace weft
