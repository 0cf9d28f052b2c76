#include <algorithm>
#include <array>
#include <cmath>

#include <weft/autograd/ops/arithmetic.hpp>
#include <weft/autograd/ops/elementwise.hpp>
#include <weft/autograd/random.hpp>
#include "tests/autograd/gradient_table.hpp"
#include "tests/autograd/same_bits.hpp"
#include "tests/catch.hpp"

namespace weft {
namespace {

template <class T>
std::vector<T> values(const Tensor<T>& tensor) {
  return {tensor.begin(), tensor.end()};
}

// a - b with NumPy's broadcasting, element by element.
Tensor<double> reference_difference(const Tensor<double>& a, const Tensor<double>& b,
                                    const Shape& shape) {
  Tensor<double> y(shape);
  const auto at = [&](const Tensor<double>& x, Index position) {
    Index offset = 0, stride = 1;
    for (Index axis = 1; axis <= shape.rank(); ++axis) {
      const Index index = position % shape[-axis];
      position /= shape[-axis];
      if (axis > x.rank()) continue;
      offset += x.shape()[-axis] == 1 ? 0 : index * stride;
      stride *= x.shape()[-axis];
    }
    return x.data()[offset];
  };
  for (Index i = 0; i < y.size(); ++i) y.data()[i] = at(a, i) - at(b, i);
  return y;
}

}  // namespace

TEMPLATE_TEST_CASE("arithmetic: sums, differences, products and quotients", "[autograd]", float,
                   double) {
  Tape<TestType> tape;
  const Var a = tape.constant(Tensor<TestType>({3}, {1, 2, 3}));
  const Var b = tape.constant(Tensor<TestType>({3}, {4, -5, 8}));
  CHECK(values((a + b).value()) == std::vector<TestType>{5, -3, 11});
  CHECK(values((a - b).value()) == std::vector<TestType>{-3, 7, -5});
  CHECK(values((a * b).value()) == std::vector<TestType>{4, -10, 24});
  CHECK(values((a / b).value()) == std::vector<TestType>{0.25, static_cast<TestType>(-0.4), 0.375});
}

TEMPLATE_TEST_CASE("arithmetic: with numbers of any built-in type", "[autograd]", float, double) {
  Tape<TestType> tape;
  const Var x = tape.constant(Tensor<TestType>({3}, {1, -2, 4}));
  const Index n = 2;
  using Values = std::vector<TestType>;
  CHECK(values((x + 1).value()) == Values{2, -1, 5});
  CHECK(values((0.5 + x).value()) == Values{1.5, -1.5, 4.5});
  CHECK(values((x - 1.0F).value()) == Values{0, -3, 3});
  CHECK(values((1 - x).value()) == Values{0, 3, -3});
  CHECK(values((x * n).value()) == Values{2, -4, 8});
  CHECK(values((2.5F * x).value()) == Values{2.5, -5, 10});
  CHECK(values((x / n).value()) == Values{0.5, -1, 2});
  CHECK(values((x / 3).value())[2] == TestType{4} / TestType{3});
  CHECK(values((1 / x).value()) == Values{1, -0.5, 0.25});
  CHECK((x + 1).shape() == x.shape());
}

TEMPLATE_TEST_CASE("arithmetic: between plain tensors and numbers", "[autograd]", float, double) {
  const Tensor<TestType> a({2, 2}, {1, 2, 3, 4}), row({2}, {10, 20});
  using Values = std::vector<TestType>;
  CHECK(values(a + row) == Values{11, 22, 13, 24});
  CHECK(values(row - a) == Values{9, 18, 7, 16});
  CHECK(values(a * row) == Values{10, 40, 30, 80});
  CHECK(values(row / a)[3] == 5);
  CHECK(values(-a) == Values{-1, -2, -3, -4});
  CHECK(values(1 - 2 * a) == Values{-1, -3, -5, -7});
  CHECK(values(a / 2 + 0.5) == Values{1, 1.5, 2, 2.5});
  CHECK(values(12 / a - 1) == Values{11, 5, 3, 2});
  CHECK(values(a) == Values{1, 2, 3, 4});
  CHECK_THROWS_WITH(a + Tensor<TestType>({3}),
                    "add: expected shapes that broadcast (sizes equal or 1), got [2, 2] and [3]");
}

TEST_CASE("arithmetic: with numbers at the size of several ranges", "[autograd]") {
  Random random(8);
  Parameter<double> x(random.uniform_tensor<double>({70, 1001}, 0.5, 2.0));
  const auto upstream = random.normal_tensor<double>({70, 1001});
  const auto check = [&](const auto& function, const auto& value, const auto& slope) {
    Tape<double> tape;
    x.zero_grad();
    const Var y = function(tape.parameter(x));
    tape.backward(y, upstream);
    const Tensor<double> dx = x.grad();
    Index wrong = 0;
    for (Index i = 0; i < x.size(); ++i) {
      const double v = x.value().data()[i], g = upstream.data()[i];
      wrong += std::abs(y.value().data()[i] - value(v)) > 1e-12;
      wrong += std::abs(dx.data()[i] - g * slope(v)) > 1e-12;
    }
    CHECK(wrong == 0);
  };
  check([](const auto& v) { return v + 3; }, [](double v) { return v + 3; },
        [](double) { return 1.0; });
  check([](const auto& v) { return 3 - v; }, [](double v) { return 3 - v; },
        [](double) { return -1.0; });
  check([](const auto& v) { return v / 3; }, [](double v) { return v / 3; },
        [](double) { return 1.0 / 3; });
  check([](const auto& v) { return 3 / v; }, [](double v) { return 3 / v; },
        [](double v) { return -3 / (v * v); });
}

TEST_CASE("arithmetic: a row, a column and a scalar broadcast", "[autograd]") {
  Tape<float> tape;
  const Var matrix = tape.constant(Tensor<float>({2, 3}, {1, 2, 3, 4, 5, 6}));
  const Var row = tape.constant(Tensor<float>({3}, {10, 20, 30}));
  const Var column = tape.constant(Tensor<float>({2, 1}, {10, 20}));
  const Var scalar = tape.constant(Tensor<float>(Shape{}, {2}));
  CHECK(values((matrix + row).value()) == std::vector<float>{11, 22, 33, 14, 25, 36});
  CHECK(values((column - matrix).value()) == std::vector<float>{9, 8, 7, 16, 15, 14});
  CHECK(values((scalar * matrix).value()) == std::vector<float>{2, 4, 6, 8, 10, 12});
  CHECK((column + row).shape() == Shape{2, 3});
  CHECK((scalar + scalar).shape() == Shape{});
}

TEST_CASE("arithmetic: all pairs of shapes broadcast by NumPy's rules", "[autograd]") {
  // Every tensor of sizes 1 or (2, 3, 4, 5), of rank 0 to 4, against every other.
  constexpr std::array<Index, 4> full = {2, 3, 4, 5};
  std::vector<Tensor<double>> tensors;
  Random random(8);
  for (unsigned rank = 0; rank <= 4; ++rank)
    for (unsigned ones = 0; ones < (1U << rank); ++ones) {
      std::vector<Index> sizes(full.end() - rank, full.end());
      for (unsigned axis = 0; axis < rank; ++axis)
        if (ones >> axis & 1U) sizes[axis] = 1;
      tensors.push_back(random.normal_tensor<double>(Shape(std::span<const Index>(sizes))));
    }
  Tape<double> tape;
  for (const Tensor<double>& a : tensors)
    for (const Tensor<double>& b : tensors) {
      const Tensor<double> y = (tape.constant(a) - tape.constant(b)).value();
      const Tensor<double> expected =
          reference_difference(a, b, broadcast("test", a.shape(), b.shape()));
      INFO(a.shape() << " and " << b.shape());
      REQUIRE(y.shape() == expected.shape());
      REQUIRE(std::equal(y.begin(), y.end(), expected.begin()));
    }
}

TEST_CASE("arithmetic: the gradient of a broadcast operand is summed", "[autograd]") {
  Parameter<float> matrix(Tensor<float>({2, 3}, {1, 2, 3, 4, 5, 6}));
  Parameter<float> row(Tensor<float>({3}, {10, 20, 30}));
  Parameter<float> scalar(Tensor<float>(Shape{}, {2}));
  Tape<float> tape;
  const Var y = tape.parameter(matrix) * tape.parameter(row) - tape.parameter(scalar);
  tape.backward(y, Tensor<float>({2, 3}, {1, 2, 3, 4, 5, 6}));
  CHECK(values(matrix.grad()) == std::vector<float>{10, 40, 90, 40, 100, 180});
  CHECK(values(row.grad()) == std::vector<float>{17, 29, 45});
  CHECK(scalar.grad().item() == -21.0F);
}

TEST_CASE("arithmetic: empty axes are allowed, and operands broadcast along them get zero gradient",
          "[autograd]") {
  Parameter<float> empty(Tensor<float>({0, 3}));
  Parameter<float> row(Tensor<float>({1, 3}, {1, 2, 3}));
  Tape<float> tape;
  const Var y = tape.parameter(empty) * tape.parameter(row);
  CHECK(y.shape() == Shape{0, 3});
  tape.backward(y, Tensor<float>({0, 3}));
  CHECK(values(row.grad()) == std::vector<float>{0, 0, 0});
  CHECK(empty.grad().shape() == Shape{0, 3});
}

TEST_CASE("arithmetic: shapes that do not broadcast throw", "[autograd]") {
  Tape<float> tape;
  const Var a = tape.constant(Tensor<float>({2, 3}));
  const Var b = tape.constant(Tensor<float>({2}));
  CHECK_THROWS_WITH(a + b,
                    "add: expected shapes that broadcast (sizes equal or 1), got [2, 3] and [2]");
  CHECK_THROWS_WITH(a - b, Catch::StartsWith("subtract: expected shapes"));
  CHECK_THROWS_WITH(a * b, Catch::StartsWith("multiply: expected shapes"));
  CHECK_THROWS_AS(a / b, ShapeError);
  Tape<float> other;
  CHECK_THROWS_WITH(a + other.constant(Tensor<float>({2, 3})),
                    "add: expected inputs on one tape, got inputs on different tapes (write "
                    "tape.constant(x) for a tensor x)");
}

TEST_CASE("arithmetic: the same bits on any number of threads, also of summed gradients",
          "[autograd]") {
  Random random(4);
  Parameter<float> matrix(random.normal_tensor<float>({700, 96}));
  Parameter<float> row(random.normal_tensor<float>({96}));
  Parameter<float> column(random.normal_tensor<float>({700, 1}));
  const auto upstream = random.normal_tensor<float>({700, 96});
  check_same_bits([&] {
    for (Parameter<float>* parameter : {&matrix, &row, &column}) parameter->zero_grad();
    Tape<float> tape;
    const Var y = (tape.parameter(matrix) * tape.parameter(row)) / tape.parameter(column);
    tape.backward(y, upstream);
    return std::vector{y.value(), matrix.grad().clone(), row.grad().clone(), column.grad().clone()};
  });
}

namespace {

std::vector<GradientCase> gradient_rows() {
  return {
      {"add",
       "equal shapes",
       {{2, 3}, {2, 3}},
       {{200, 250}, {200, 250}},
       [](const auto& x) { return x[0] + x[1]; }},
      {"add",
       "a row on a matrix",
       {{2, 3}, {3}},
       {{200, 250}, {250}},
       [](const auto& x) { return x[0] + x[1]; }},
      {"add",
       "a scalar",
       {{2, 3}, {}},
       {{200, 250}, {}},
       [](const auto& x) { return x[1] + x[0]; }},
      {"add",
       "both broadcast",
       {{3, 1, 2, 1}, {4, 1, 5}},
       {{30, 1, 8, 1}, {40, 1, 6}},
       [](const auto& x) { return x[0] + x[1]; }},
      {"add", "a number", {{2, 3}}, {{200, 250}}, [](const auto& x) { return 2 + (x[0] - 3); }},
      {"subtract", "from a number", {{2, 3}}, {{200, 250}}, [](const auto& x) { return 1 - x[0]; }},
      {"divide", "by a number", {{2, 3}}, {{200, 250}}, [](const auto& x) { return x[0] / 3; }},
      {"divide",
       "a number by a tensor",
       {away_from_zero({2, 3})},
       {away_from_zero({200, 250})},
       [](const auto& x) { return 2.5 / x[0]; }},
      {"add", "x + x", {{2, 3}}, {{200, 250}}, [](const auto& x) { return x[0] + x[0]; }},
      {"subtract",
       "equal shapes",
       {{2, 3}, {2, 3}},
       {{200, 250}, {200, 250}},
       [](const auto& x) { return x[0] - x[1]; }},
      {"subtract",
       "a column",
       {{2, 1}, {2, 3}},
       {{200, 1}, {200, 250}},
       [](const auto& x) { return x[1] - x[0]; }},
      {"subtract",
       "middle axes",
       {{2, 3, 4}, {3, 1}},
       {{30, 40, 50}, {40, 1}},
       [](const auto& x) { return x[1] - x[0]; }},
      {"multiply",
       "equal shapes",
       {{2, 3}, {2, 3}},
       {{200, 250}, {200, 250}},
       [](const auto& x) { return x[0] * x[1]; }},
      {"multiply",
       "a row",
       {{2, 2, 3}, {3}},
       {{20, 50, 60}, {60}},
       [](const auto& x) { return x[1] * x[0]; }},
      {"multiply",
       "first and last axis",
       {{1, 3, 1}, {2, 3, 4}},
       {{1, 30, 1}, {40, 30, 50}},
       [](const auto& x) { return x[0] * x[1]; }},
      {"multiply", "x x", {{2, 3}}, {{200, 250}}, [](const auto& x) { return x[0] * x[0]; }},
      {"divide",
       "equal shapes",
       {{2, 3}, positive({2, 3})},
       {{200, 250}, positive({200, 250})},
       [](const auto& x) { return x[0] / x[1]; }},
      {"divide",
       "by a column",
       {{2, 3}, away_from_zero({2, 1})},
       {{200, 250}, away_from_zero({200, 1})},
       [](const auto& x) { return x[0] / x[1]; }},
      {"divide",
       "a scalar by a tensor",
       {{}, away_from_zero({2, 3})},
       {{}, away_from_zero({200, 250})},
       [](const auto& x) { return x[0] / x[1]; }},
  };
}

const GradientRows registered(gradient_rows());

}  // namespace
}  // namespace weft
