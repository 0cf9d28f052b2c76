#include <cmath>
#include <limits>

#include <weft/autograd/ops/comparison.hpp>
#include <weft/autograd/ops/elementwise.hpp>
#include <weft/autograd/ops/reductions.hpp>
#include <weft/autograd/random.hpp>
#include "tests/autograd/gradient_table.hpp"
#include "tests/autograd/same_bits.hpp"
#include "tests/catch.hpp"
#include "tests/compare.hpp"

namespace weft {
namespace {

using Booleans = std::vector<bool>;

template <class T>
std::vector<T> values(const Tensor<T>& tensor) {
  return {tensor.begin(), tensor.end()};
}

}  // namespace

TEMPLATE_TEST_CASE("comparisons: of tensors, variables and numbers", "[autograd]", float, double) {
  const Tensor<TestType> a({3}, {1, 2, 3}), b({3}, {2, 2, 2});
  Tape<TestType> tape;
  const Var x = tape.constant(a), y = tape.constant(b);
  CHECK(values(a < b) == Booleans{true, false, false});
  CHECK(values(x <= y) == Booleans{true, true, false});
  CHECK(values(x > b) == Booleans{false, false, true});
  CHECK(values(a >= y) == Booleans{false, true, true});
  CHECK(values(x == y) == Booleans{false, true, false});
  CHECK(values(a != b) == Booleans{true, false, true});
  // A number on the right and on the left.
  CHECK(values(x < 2) == Booleans{true, false, false});
  CHECK(values(a <= 2.0) == Booleans{true, true, false});
  CHECK(values(x > 2.0F) == Booleans{false, false, true});
  CHECK(values(a >= 2) == Booleans{false, true, true});
  CHECK(values(x == 2) == Booleans{false, true, false});
  CHECK(values(x != 2) == Booleans{true, false, true});
  CHECK(values(2 < x) == Booleans{false, false, true});
  CHECK(values(2 <= a) == Booleans{false, true, true});
  CHECK(values(2 > a) == Booleans{true, false, false});
  CHECK(values(2.0 >= x) == Booleans{true, true, false});
  CHECK(values(2 == a) == Booleans{false, true, false});
  CHECK(values(2 != x) == Booleans{true, false, true});
}

TEST_CASE("comparisons: of tokens", "[autograd]") {
  const Tokens tokens({4}, {0, 3, 1, 3});
  CHECK(values(tokens == 3) == Booleans{false, true, false, true});
  CHECK(values(1 <= tokens) == Booleans{false, true, true, true});
  CHECK(values(tokens != Tokens(Shape{}, {1})) == Booleans{true, true, false, true});
  CHECK_THROWS_WITH(tokens < (Index{1} << 40),
                    "comparison: expected a 32-bit integer, got 1099511627776");
}

TEST_CASE("where: rows that are not chosen become zeros, even if they are NaN", "[autograd]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor<bool> kept({2, 2, 1}, {true, false, false, true});
  Tape<double> tape;
  Parameter<double> x(Tensor<double>({2, 2, 2}, {1, 2, nan, 4, 5, nan, 7, 8}));
  const Var y = where(kept, tape.parameter(x), 0.0);
  CHECK(values(y.value()) == std::vector<double>{1, 2, 0, 0, 0, 0, 7, 8});
  tape.backward(y, Tensor<double>({2, 2, 2}, {1, 2, 3, 4, nan, nan, 7, 8}));
  CHECK(values(x.grad()) == std::vector<double>{1, 2, 0, 0, 0, 0, 7, 8});
}

TEST_CASE("comparisons: shapes broadcast", "[autograd]") {
  const Tensor<float> row({3}, {1, 2, 3}), column({2, 1}, {2, 3});
  const Tensor<bool> less = row < column;
  CHECK(less.shape() == Shape{2, 3});
  CHECK(values(less) == Booleans{true, false, false, true, true, false});
  CHECK((row < 5).shape() == Shape{3});
  CHECK((Tensor<float>({0, 3}) == row).shape() == Shape{0, 3});
  CHECK_THROWS_AS(row < Tensor<float>({2}), ShapeError);
  CHECK_THROWS_WITH(
      row < Tensor<float>({2}),
      "comparison: expected shapes that broadcast (sizes equal or 1), got [3] and [2]");
  CHECK_THROWS_AS(compare(row, static_cast<Comparison>(17), row), ValueError);
}

TEST_CASE("comparisons: NaN differs from every number, and from NaN", "[autograd]") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor<float> x({2}, {nan, 1});
  CHECK(values(x == x) == Booleans{false, true});
  CHECK(values(x != x) == Booleans{true, false});
  CHECK(values(x < 2) == Booleans{false, true});
  CHECK(values(x >= 0) == Booleans{false, true});
  CHECK(values(0 > x) == Booleans{false, false});
}

TEST_CASE(
    "where: an infinite derivative that is not chosen gives NaN, unless its input is chosen too",
    "[autograd]") {
  Parameter<double> p(Tensor<double>({3}, {4.0, 0.0, -1.0}));
  Tape<double> tape;
  const auto gradient = [&](const auto& function) {
    p.zero_grad();
    const Var x = tape.parameter(p);
    tape.backward(sum(function(x)));
    return p.grad();
  };
  const Tensor<double> once =
      gradient([](const Var<double>& x) { return where(x > 0, sqrt(x), x); });
  CHECK(once(0) == 0.25);
  CHECK(std::isnan(once(1)));
  CHECK(std::isnan(once(2)));
  const Tensor<double> twice =
      gradient([](const Var<double>& x) { return where(x > 0, sqrt(where(x > 0, x, 1)), x); });
  CHECK(same(twice, Tensor<double>({3}, {0.25, 1.0, 1.0})));
}

TEMPLATE_TEST_CASE("where: tensors, variables and numbers, broadcast", "[autograd]", float,
                   double) {
  using Values = std::vector<TestType>;
  const Tensor<bool> condition({2, 3}, {true, false, true, false, false, true});
  const Tensor<TestType> a({2, 3}, {1, 2, 3, 4, 5, 6}), row({3}, {10, 20, 30});
  CHECK(values(where(condition, a, row)) == Values{1, 20, 3, 10, 20, 6});
  CHECK(values(where(condition, a, 0)) == Values{1, 0, 3, 0, 0, 6});
  CHECK(values(where(condition, -1.5, a)) == Values{-1.5, 2, -1.5, 4, 5, -1.5});
  Tape<TestType> tape;
  const Var x = tape.constant(a), y = tape.constant(row);
  CHECK(values(where(condition, y, x).value()) == Values{10, 2, 30, 4, 5, 30});
  CHECK(values(where(x > 3, x, 0).value()) == Values{0, 0, 0, 4, 5, 6});
  CHECK(values(where(x > 3, 1, x).value()) == Values{1, 2, 3, 1, 1, 1});
  // Each of the three may be the one that is broadcast.
  const Tensor<bool> column({2, 1}, {false, true});
  CHECK(values(where(column, y, 0).value()) == Values{0, 0, 0, 10, 20, 30});
  CHECK(where(column, row, Tensor<TestType>({4, 1, 1})).shape() == Shape{4, 2, 3});
  CHECK(values(where(Tensor<bool>(Shape{}, {true}), x, y).value()) == values(a));
}

TEST_CASE("where: gradients go to the elements that were chosen", "[autograd]") {
  const Parameter<float> p(Tensor<float>({2, 2}, {1, 2, 3, 4})), q(Tensor<float>({2}, {5, 6}));
  Tape<float> tape;
  const Tensor<bool> condition({2, 2}, {true, false, false, false});
  tape.backward(where(condition, tape.parameter(p), tape.parameter(q)),
                Tensor<float>({2, 2}, {1, 10, 100, 1000}));
  CHECK(values(p.grad()) == std::vector<float>{1, 0, 0, 0});
  CHECK(values(q.grad()) == std::vector<float>{100, 1010});
}

TEST_CASE("where: what was not chosen has the gradient 0, also where it is NaN or infinite",
          "[autograd]") {
  const Parameter<float> p(Tensor<float>({3}, {0, -1, 4}));
  Tape<float> tape;
  const Var x = tape.parameter(p);
  const Var y = where(x > 0, log(x), 0);
  CHECK(values(y.value()) == std::vector<float>{0, 0, std::log(4.0F)});
  const auto gradients = tape.gradients(where(x > 0, x, x * 2), Tensor<float>::full({3}, 1), {x});
  CHECK(values(gradients[0]) == std::vector<float>{2, 2, 1});
}

TEST_CASE("where: a condition that is changed after forward changes no gradient", "[autograd]") {
  const Parameter<float> p(Tensor<float>({2}, {1, 2}));
  Tensor<bool> condition({2}, {true, false});
  Tape<float> tape;
  const Var y = where(condition, tape.parameter(p), 0);
  condition.fill(false);
  tape.backward(sum(y));
  CHECK(values(p.grad()) == std::vector<float>{1, 0});
}

TEST_CASE("where: shapes that do not broadcast and two tapes throw", "[autograd]") {
  Tape<float> tape, other;
  const Var x = tape.constant(Tensor<float>({2, 3}));
  CHECK_THROWS_WITH(where(Tensor<bool>({2}), x, x),
                    "where: expected shapes that broadcast (sizes equal or 1), got [2] and [2, 3]");
  CHECK_THROWS_WITH(where(Tensor<bool>({2}), 1, x),
                    "where: expected shapes that broadcast (sizes equal or 1), got [2] and [2, 3]");
  CHECK_THROWS_WITH(where(Tensor<bool>({3}), x, tape.constant(Tensor<float>({4}))),
                    "where: expected shapes that broadcast (sizes equal or 1), got [2, 3] and [4]");
  CHECK_THROWS_WITH(where(Tensor<bool>({3}), x, other.constant(Tensor<float>({3}))),
                    "where: expected inputs on one tape, got inputs on different tapes (write "
                    "tape.constant(x) for a tensor x)");
}

TEST_CASE("comparisons and where: at the size of several ranges, on any number of threads",
          "[autograd]") {
  Random random(2);
  const auto a = random.normal_tensor<float>({40, 30, 50}),
             b = random.normal_tensor<float>({30, 1});
  check_same_bits([&] { return std::vector{a < b, b == a, a != 0.5, 0.25 >= a}; });
  check_same_bits([&] {
    Parameter<float> p(a), q(b);
    Tape<float> tape;
    const Var x = tape.parameter(p), y = tape.parameter(q);
    const Var z = where(x < y, x, y);
    tape.backward(z, a);
    return std::vector{z.value(), p.grad(), q.grad()};
  });
  const Tensor<bool> less = a < b;
  const Tensor<float> smaller = where(less, a, b);
  Index wrong = 0;
  for (Index i = 0; i < a.size(); ++i) {
    const float v = a.data()[i], w = b.data()[i / 50 % 30];
    wrong += less.data()[i] != (v < w);
    wrong += smaller.data()[i] != std::min(v, w);
  }
  CHECK(wrong == 0);
}

namespace {

std::vector<GradientCase> gradient_rows() {
  return {
      {"where",
       "two tensors",
       {{2, 3}, {2, 3}},
       {{200, 250}, {200, 250}},
       [](const auto& x) { return where(random_allowed(x[0].shape()), x[0], x[1]); }},
      {"where",
       "a row or a column",
       {{3}, {2, 1}},
       {{250}, {200, 1}},
       [](const auto& x) {
         return where(random_allowed({x[1].shape()[0], x[0].size()}), x[0], x[1]);
       }},
      {"where",
       "rows or a number",
       {{2, 3, 2}},
       {{40, 60, 25}},
       [](const auto& x) { return where(random_allowed(x[0].shape().with(-1, 1)), x[0], 0.0); }},
      {"where",
       "a condition broadcast",
       {{2, 3, 4}, {2, 3, 4}},
       {{20, 50, 60}, {20, 50, 60}},
       [](const auto& x) {
         return where(random_allowed({x[0].shape()[1], 1}), x[0], x[1]);
       }},
      {"where",
       "a tensor or a number",
       {away_from_zero({3, 4})},
       {away_from_zero({200, 250})},
       [](const auto& x) { return where(x[0] > 0, x[0] * x[0], 0.5); }},
      {"where",
       "a number or a tensor",
       {away_from_zero({3, 4})},
       {away_from_zero({200, 250})},
       [](const auto& x) { return where(0 < x[0], 3, x[0] * x[0]); }},
  };
}

const GradientRows registered(gradient_rows());

}  // namespace
}  // namespace weft
