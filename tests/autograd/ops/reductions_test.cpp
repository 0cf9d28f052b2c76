#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <ostream>
#include <vector>

#include <weft/autograd/ops/reductions.hpp>
#include <weft/autograd/random.hpp>
#include "tests/autograd/gradient_table.hpp"
#include "tests/autograd/same_bits.hpp"
#include "tests/catch.hpp"

namespace weft {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

template <class T>
std::vector<T> elements(const Tensor<T>& tensor) {
  return {tensor.begin(), tensor.end()};
}

using Group = std::vector<double>;

// The elements of x that each result over `axes` reduces, in the order of the results.
std::vector<Group> groups(const Tensor<double>& x, std::initializer_list<Index> axes) {
  std::map<Index, Group> by_result;
  for (Index i = 0; i < x.size(); ++i) {
    Index rest = i, result = 0, step = 1;
    for (Index axis = x.rank() - 1; axis >= 0; rest /= x.shape()[axis--]) {
      const auto here = [&](Index given) { return x.shape().normalized(given) == axis; };
      if (std::any_of(axes.begin(), axes.end(), here)) continue;
      result += rest % x.shape()[axis] * step;
      step *= x.shape()[axis];
    }
    by_result[result].push_back(x.data()[i]);
  }
  std::vector<Group> list;
  for (const auto& [result, group] : by_result) list.push_back(group);
  return list;
}

double mean_of(const Group& group) {
  return std::accumulate(group.begin(), group.end(), 0.0) / static_cast<double>(group.size());
}

double squares_of(const Group& group) {
  double sum = 0.0;
  for (const double x : group) sum += (x - mean_of(group)) * (x - mean_of(group));
  return sum;
}

// Compares each result with expected(group).
template <class T, class Expected>
void check_groups(const Var<T>& result, const std::vector<Group>& all, const Expected& expected) {
  REQUIRE(result.size() == std::ssize(all));
  const double epsilon = 100.0 * static_cast<double>(std::numeric_limits<T>::epsilon());
  for (std::size_t i = 0; i < all.size(); ++i)
    CHECK(static_cast<double>(result.value().data()[i]) ==
          Approx(expected(all[i])).epsilon(epsilon).margin(epsilon));
}

template <class T>
Tensor<T> converted(const Tensor<double>& x) {
  Tensor<T> y(x.shape());
  std::transform(x.begin(), x.end(), y.begin(), [](double v) { return static_cast<T>(v); });
  return y;
}

}  // namespace

TEMPLATE_TEST_CASE("reductions: values computed by hand", "[autograd]", float, double) {
  Tape<TestType> tape;
  const auto x = tape.constant(Tensor<TestType>({2, 3}, {1, 2, 3, 4, 5, 9}));
  CHECK(sum(x).item() == 24);
  CHECK(mean(x).item() == 4);
  CHECK(max(x).item() == 9);
  CHECK(min(x).item() == 1);
  // Squared deviations from 4: 9, 4, 1, 0, 1, 25.
  CHECK(variance(x).item() == 8);
  CHECK(variance(x, 0).item() == Approx(40.0 / 6.0));

  CHECK(sum(x).shape() == Shape{});
  CHECK(sum(x, {0}).shape() == Shape{3});
  CHECK(elements(sum(x, {0}).value()) == std::vector<TestType>{5, 7, 12});
  CHECK(sum(x, {-1}, true).shape() == Shape{2, 1});
  CHECK(elements(sum(x, {1}).value()) == std::vector<TestType>{6, 18});
  CHECK(elements(mean(x, {1}).value()) == std::vector<TestType>{2, 6});
  CHECK(elements(max(x, {0}).value()) == std::vector<TestType>{4, 5, 9});
  CHECK(elements(min(x, {1}).value()) == std::vector<TestType>{1, 4});
  CHECK(elements(variance(x, {1}).value()) == std::vector<TestType>{1, 7});
  CHECK(elements(variance(x, {0}, 0).value()) == std::vector<TestType>{2.25, 2.25, 9});
  CHECK(sum(x, {0, 1}, true).shape() == Shape{1, 1});
  CHECK(elements(sum(x, {}).value()) == elements(x.value()));
}

TEMPLATE_TEST_CASE("reductions: over every set of axes, including axes of size 1", "[autograd]",
                   float, double) {
  Random random(3);
  auto tape = Tape<TestType>::inference();
  for (const Shape& shape : {Shape{3, 4, 2, 5}, Shape{2, 1, 3, 1}, Shape{1, 3, 1, 2},
                             Shape{70, 3, 2, 1}, Shape{2, 1, 1, 1200}}) {
    const Tensor<double> values = random.normal_tensor<double>(shape);
    const auto x = tape.constant(converted<TestType>(values));
    for (const std::initializer_list<Index> axes :
         std::initializer_list<std::initializer_list<Index>>{{0},
                                                             {1},
                                                             {2},
                                                             {3},
                                                             {0, 1},
                                                             {2, 0},
                                                             {-1, 0},
                                                             {1, 2},
                                                             {1, 3},
                                                             {-2, -1},
                                                             {0, 1, 2},
                                                             {0, 1, 3},
                                                             {3, 2, 0},
                                                             {1, 2, 3},
                                                             {3, 1, 0, 2}}) {
      CAPTURE(shape, std::vector<Index>(axes));
      const std::vector<Group> all = groups(values, axes);
      check_groups(sum(x, axes), all,
                   [](const Group& g) { return std::accumulate(g.begin(), g.end(), 0.0); });
      check_groups(mean(x, axes), all, mean_of);
      check_groups(max(x, axes), all, [](const Group& g) {
        return static_cast<double>(static_cast<TestType>(*std::max_element(g.begin(), g.end())));
      });
      check_groups(min(x, axes), all, [](const Group& g) {
        return static_cast<double>(static_cast<TestType>(*std::min_element(g.begin(), g.end())));
      });
      check_groups(variance(x, axes, 0, true), all,
                   [](const Group& g) { return squares_of(g) / static_cast<double>(g.size()); });
    }
  }
}

TEST_CASE("reductions: float sums of many elements are accurate", "[autograd]") {
  auto tape = Tape<float>::inference();
  const auto many = tape.constant(Tensor<float>::full({1000, 1000}, 0.1F));
  CHECK(sum(many).item() == Approx(1e6 * static_cast<double>(0.1F)).epsilon(1e-6));
  CHECK(sum(many, {0}).value()(999) == Approx(1e3 * static_cast<double>(0.1F)).epsilon(1e-6));
  CHECK(mean(many, {1}).value()(0) == Approx(static_cast<double>(0.1F)).epsilon(1e-6));

  Tensor<float> far(Shape{1 << 20});
  for (Index i = 0; i < far.size(); ++i) far(i) = i % 2 == 0 ? 1001.0F : 999.0F;
  CHECK(variance(tape.constant(far), 0).item() == 1.0F);
}

TEST_CASE("max, min: NaN propagates from any position", "[autograd]") {
  auto tape = Tape<double>::inference();
  for (Index at = 0; at < 3; ++at) {
    Tensor<double> values({3, 2}, {1, 2, 5, 4, 3, 6});
    values(at, 0) = nan;
    const auto x = tape.constant(values);
    CHECK(std::isnan(max(x).item()));
    CHECK(std::isnan(max(x, {0}).value()(0)));
    CHECK(max(x, {0}).value()(1) == 6);
    CHECK(std::isnan(max(x, {1}).value()(at)));
    CHECK(std::isnan(min(x).item()));
    CHECK(std::isnan(min(x, {0}).value()(0)));
    CHECK(min(x, {0}).value()(1) == 2);
    CHECK(std::isnan(min(x, {1}).value()(at)));
  }
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(max(tape.constant(Tensor<double>({2}, {-infinity, -infinity}))).item() == -infinity);
}

TEMPLATE_TEST_CASE("max: elements that tie share the gradient equally", "[autograd]", float,
                   double) {
  Parameter<TestType> x(Tensor<TestType>({2, 4}, {3, 1, 3, 2, 5, 5, 5, 5}));
  Tape<TestType> tape;
  tape.backward(max(tape.parameter(x), {1}), Tensor<TestType>({2}, {6, 8}));
  CHECK(elements(x.grad()) == std::vector<TestType>{3, 0, 3, 0, 2, 2, 2, 2});
  x.zero_grad();
  tape.backward(max(tape.parameter(x), {0}), Tensor<TestType>({4}, {1, 2, 3, 4}));
  CHECK(elements(x.grad()) == std::vector<TestType>{0, 0, 0, 0, 1, 2, 3, 4});
}

TEST_CASE("min: elements that tie share the gradient equally", "[autograd]") {
  Parameter<float> x(Tensor<float>({2, 4}, {1, 3, 1, 2, 5, 5, 5, 5}));
  Tape<float> tape;
  tape.backward(min(tape.parameter(x), {1}), Tensor<float>({2}, {6, 8}));
  CHECK(elements(x.grad()) == std::vector<float>{3, 0, 3, 0, 2, 2, 2, 2});
}

TEMPLATE_TEST_CASE("reductions: gradients computed by hand", "[autograd]", float, double) {
  Parameter<TestType> x(Tensor<TestType>({2, 2}, {1, 3, 2, 6}));
  Tape<TestType> tape;
  tape.backward(mean(tape.parameter(x), {0}), Tensor<TestType>({2}, {2, 4}));
  CHECK(elements(x.grad()) == std::vector<TestType>{1, 2, 1, 2});
  tape.backward(sum(tape.parameter(x)), Tensor<TestType>(Shape{}, {3}));
  CHECK(elements(x.grad()) == std::vector<TestType>{4, 5, 4, 5});
  x.zero_grad();
  // 2 (x - mean) / (2 - 1)
  tape.backward(variance(tape.parameter(x), {1}), Tensor<TestType>({2}, {1, 10}));
  CHECK(elements(x.grad()) == std::vector<TestType>{-2, 2, -40, 40});
}

TEST_CASE("reductions: an empty sum is 0, and its gradient is empty", "[autograd]") {
  Parameter<float> x(Tensor<float>({2, 0}));
  Tape<float> tape;
  CHECK(sum(tape.parameter(x)).item() == 0.0F);
  CHECK(elements(sum(tape.parameter(x), {1}).value()) == std::vector<float>{0, 0});
  CHECK(sum(tape.parameter(x), {0}).shape() == Shape{0});
  CHECK(mean(tape.parameter(x), {0}).shape() == Shape{0});
  tape.backward(sum(tape.parameter(x), {1}), Tensor<float>({2}));
  CHECK(x.grad().empty());
}

TEST_CASE("reductions: the mean, maximum and variance of no elements throw", "[autograd]") {
  Tape<float> tape;
  const auto none = tape.constant(Tensor<float>({2, 0})),
             one = tape.constant(Tensor<float>({3, 1}));
  CHECK_THROWS_AS(mean(none), ShapeError);
  CHECK_THROWS_WITH(mean(none), "mean: expected at least one element to reduce, got [2, 0]");
  CHECK_THROWS_WITH(min(none), "min: expected at least one element to reduce, got [2, 0]");
  CHECK_THROWS_WITH(max(none, {1}), "max: expected at least one element to reduce, got [2, 0]");
  CHECK_THROWS_AS(variance(one, {1}), ShapeError);
  CHECK_THROWS_WITH(
      variance(one, {1}),
      "variance: expected more elements to reduce than the correction 1, got 1 of [3, 1]");
  CHECK_THROWS_WITH(
      variance(none, 0),
      "variance: expected more elements to reduce than the correction 0, got 0 of [2, 0]");
  CHECK_THROWS_AS(variance(one, -1), ValueError);
  CHECK_THROWS_WITH(variance(one, -1), "variance: expected a correction of at least 0, got -1");
}

TEST_CASE("reductions: axes that do not exist or are given twice throw", "[autograd]") {
  Tape<float> tape;
  const auto x = tape.constant(Tensor<float>({2, 3}));
  CHECK_THROWS_AS(sum(x, {2}), ShapeError);
  CHECK_THROWS_WITH(sum(x, {2}), "sum: expected an axis of [2, 3], got 2");
  CHECK_THROWS_WITH(mean(x, {-3}), "mean: expected an axis of [2, 3], got -3");
  CHECK_THROWS_WITH(max(x, {1, -1}),
                    "max: expected each axis of [2, 3] at most once, got axis -1 twice");
  CHECK_THROWS_AS(variance(x, {0, 0}), ShapeError);
}

TEST_CASE("reductions: the same bits on 1, 2, 3 and 8 threads", "[autograd]") {
  Random random(5);
  Parameter<float> x(random.normal_tensor<float>({150, 7, 130}));
  check_same_bits([&] {
    std::vector<Tensor<float>> results;
    Tape<float> tape;
    for (const std::initializer_list<Index> axes :
         std::initializer_list<std::initializer_list<Index>>{{0}, {2}, {0, 1}, {0, 2}, {0, 1, 2}}) {
      const auto over_axes = [&](auto reduce) {
        const Var<float> y = reduce(tape.parameter(x));
        results.push_back(y.value());
        x.zero_grad();
        tape.backward(y, Tensor<float>::full(y.shape(), 0.3F));
        results.push_back(x.grad().clone());
      };
      over_axes([&](const Var<float>& v) { return sum(v, axes); });
      over_axes([&](const Var<float>& v) { return mean(v, axes); });
      over_axes([&](const Var<float>& v) { return max(v, axes); });
      over_axes([&](const Var<float>& v) { return variance(v, axes); });
    }
    return results;
  });
}

TEST_CASE("reductions: passes after the first allocate no memory", "[autograd]") {
  Random random(5);
  Parameter<float> x(random.normal_tensor<float>({130, 3, 40}));
  Tape<float> tape;
  const auto pass = [&] {
    const auto v = tape.parameter(x);
    tape.backward(sum(max(variance(mean(v, {0, 2}, true), 0))));
    tape.backward(max(variance(tape.parameter(x), {0, 2})));
    return tape.memory().heap_requests;
  };
  const auto first = pass();
  CHECK(pass() == first);
}

namespace {

std::vector<GradientCase> gradient_rows() {
  return {
      {"sum", "all elements", {{2, 3}}, {{520, 1010}}, [](const auto& x) { return sum(x[0]); }},
      {"sum",
       "the last axis",
       {{3, 4}},
       {{90, 1100}},
       [](const auto& x) { return sum(x[0], {-1}); }},
      {"sum",
       "an axis in the middle",
       {{2, 3, 2}},
       {{3, 130, 2100}},
       [](const auto& x) { return sum(x[0], {1}); }},
      {"sum",
       "the first and the last axis",
       {{2, 3, 4}},
       {{20, 30, 80}},
       [](const auto& x) {
         return sum(x[0], {2, 0});
       }},
      {"sum",
       "with kept axes",
       {{2, 3, 2}},
       {{40, 70, 20}},
       [](const auto& x) {
         return sum(x[0], {0, 1}, true);
       }},

      {"mean", "all elements", {{5}}, {{50000}}, [](const auto& x) { return mean(x[0]); }},
      {"mean",
       "the first axis",
       {{3, 4}},
       {{200, 250}},
       [](const auto& x) { return mean(x[0], {0}); }},
      {"mean",
       "every other axis",
       {{2, 3, 2, 2}},
       {{20, 30, 10, 10}},
       [](const auto& x) {
         return mean(x[0], {0, 2}, true);
       }},

      {"max",
       "all elements",
       {distinct({7})},
       {distinct({50000})},
       [](const auto& x) { return max(x[0]); }},
      {"max",
       "the last axis",
       {distinct({3, 4})},
       {distinct({90, 1100})},
       [](const auto& x) { return max(x[0], {1}); }},
      {"max",
       "the first axis",
       {distinct({3, 4})},
       {distinct({200, 250})},
       [](const auto& x) { return max(x[0], {0}); }},
      {"max",
       "the first and the last axis",
       {distinct({2, 3, 2})},
       {distinct({20, 30, 80})},
       [](const auto& x) {
         return max(x[0], {0, 2}, true);
       }},

      {"min",
       "all elements",
       {distinct({7})},
       {distinct({50000})},
       [](const auto& x) { return min(x[0]); }},
      {"min",
       "the last axis",
       {distinct({3, 4})},
       {distinct({90, 1100})},
       [](const auto& x) { return min(x[0], {1}); }},
      {"min",
       "the first axis",
       {distinct({3, 4})},
       {distinct({200, 250})},
       [](const auto& x) { return min(x[0], {0}, true); }},

      {"variance", "all elements", {{6}}, {{50000}}, [](const auto& x) { return variance(x[0]); }},
      {"variance",
       "the last axis, divided by n",
       {{3, 4}},
       {{90, 1100}},
       [](const auto& x) { return variance(x[0], {-1}, 0); }},
      {"variance",
       "the first axis",
       {{3, 4}},
       {{200, 250}},
       [](const auto& x) { return variance(x[0], {0}); }},
      {"variance",
       "the first and the last axis",
       {{2, 3, 2}},
       {{20, 30, 80}},
       [](const auto& x) {
         return variance(x[0], {0, 2}, 1, true);
       }},
  };
}

const GradientRows registered(gradient_rows());

}  // namespace
}  // namespace weft
