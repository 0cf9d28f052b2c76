#include <weft/autograd/ops/linear.hpp>
#include <weft/autograd/ops/matmul.hpp>
#include <weft/autograd/random.hpp>
#include "tests/autograd/gradient_table.hpp"
#include "tests/autograd/same_bits.hpp"
#include "tests/catch.hpp"

namespace weft {

TEMPLATE_TEST_CASE("matmul: a product computed by hand, with each operand transposed", "[autograd]",
                   float, double) {
  Tape<TestType> tape;
  const auto a = tape.constant(Tensor<TestType>({2, 3}, {1, 2, 3, 4, 5, 6}));
  const auto a_t = tape.constant(Tensor<TestType>({3, 2}, {1, 4, 2, 5, 3, 6}));
  const auto b = tape.constant(Tensor<TestType>({3, 2}, {1, 0, 2, -1, 0, 3}));
  const auto b_t = tape.constant(Tensor<TestType>({2, 3}, {1, 2, 0, 0, -1, 3}));
  const Tensor<TestType> expected({2, 2}, {5, 7, 14, 13});
  for (const auto& y :
       {matmul(a, b), matmul(a_t, b, {.transpose_a = true}), matmul(a, b_t, {.transpose_b = true}),
        matmul(a_t, b_t, {.transpose_a = true, .transpose_b = true})}) {
    REQUIRE(y.shape() == Shape{2, 2});
    CHECK(std::equal(expected.begin(), expected.end(), y.value().begin()));
  }
}

TEST_CASE("matmul: a batch, and a batch times one matrix", "[autograd]") {
  Tape<float> tape;
  const auto a = tape.constant(Tensor<float>({2, 1, 2}, {1, 2, 3, 4}));
  const auto b = tape.constant(Tensor<float>({2, 2, 1}, {1, 1, 10, 10}));
  const auto one = tape.constant(Tensor<float>({2, 1}, {2, 0}));
  const auto y = matmul(a, b).value();
  CHECK(y.shape() == Shape{2, 1, 1});
  CHECK(y(0, 0, 0) == 3.0F);
  CHECK(y(1, 0, 0) == 70.0F);
  const auto z = matmul(a, one).value();
  CHECK(z(0, 0, 0) == 2.0F);
  CHECK(z(1, 0, 0) == 6.0F);
}

TEST_CASE("matmul: over no inner elements, products are zeros and gradients empty", "[autograd]") {
  Parameter<double> a(Tensor<double>({2, 0})), b(Tensor<double>({0, 3}));
  Tape<double> tape;
  const auto y = matmul(tape.parameter(a), tape.parameter(b));
  CHECK(y.shape() == Shape{2, 3});
  for (const double value : y.value()) CHECK(value == 0.0);
  tape.backward(y, Tensor<double>::full({2, 3}, 1.0));
  CHECK(a.grad().shape() == Shape{2, 0});
  CHECK(b.grad().shape() == Shape{0, 3});
}

TEST_CASE("matmul: shapes that do not match throw and are named", "[autograd]") {
  Tape<float> tape;
  const auto of = [&](Shape shape) { return tape.constant(Tensor<float>(shape)); };
  CHECK_THROWS_WITH(
      matmul(of({2, 3}), of({4, 5})),
      "matmul: expected shapes [..., M, K] and [..., K, N], or [..., M, K] and [K, N], got "
      "[2, 3] and [4, 5]");
  CHECK_THROWS_WITH(matmul(of({2, 3}), of({3, 5}), {.transpose_b = true}),
                    Catch::Contains("matmul (b transposed)"));
  CHECK_THROWS_AS(matmul(of({2, 2, 3}), of({3, 3, 5})), ShapeError);
  CHECK_THROWS_AS(matmul(of({3}), of({3, 5})), ShapeError);
  Tape<float> other;
  CHECK_THROWS_WITH(matmul(of({2, 3}), other.constant(Tensor<float>({3, 2}))),
                    "matmul: expected inputs on one tape, got inputs on different tapes (write "
                    "tape.constant(x) for a tensor x)");
}

TEMPLATE_TEST_CASE("linear: x Wᵀ + b computed by hand, with and without relu", "[autograd]", float,
                   double) {
  Tape<TestType> tape;
  const auto x = tape.constant(Tensor<TestType>({1, 2, 2}, {1, 2, -1, 0}));
  const auto w = tape.constant(Tensor<TestType>({3, 2}, {1, 0, 0, 1, 1, 1}));
  const auto b = tape.constant(Tensor<TestType>({3}, {0, 1, -4}));
  const auto y = linear(x, w, b).value();
  CHECK(y.shape() == Shape{1, 2, 3});
  const TestType expected[] = {1, 3, -1, -1, 1, -5};
  CHECK(std::equal(y.begin(), y.end(), expected));
  const auto bounded = linear(x, w, b, Activation::relu).value();
  const TestType expected_bounded[] = {1, 3, 0, 0, 1, 0};
  CHECK(std::equal(bounded.begin(), bounded.end(), expected_bounded));
}

TEST_CASE("linear: published values of both forms of gelu at 1", "[autograd]") {
  Tape<double> tape;
  const auto x = tape.constant(Tensor<double>({1, 1}, {1}));
  const auto one = tape.constant(Tensor<double>({1, 1}, {1}));
  CHECK(linear(x, one, Activation::gelu).item() == Approx(0.8413447460685429).epsilon(1e-14));
  CHECK(linear(x, one, Activation::gelu_tanh).item() == Approx(0.8411919906082768).epsilon(1e-14));
}

TEST_CASE("linear: an input of no rows gives no rows and zero gradient", "[autograd]") {
  Parameter<float> weight(Tensor<float>::full({3, 2}, 1.0F));
  Tape<float> tape;
  const auto y = linear(tape.constant(Tensor<float>({0, 2})), tape.parameter(weight));
  CHECK(y.shape() == Shape{0, 3});
  tape.backward(y, Tensor<float>({0, 3}));
  for (const float g : weight.grad()) CHECK(g == 0.0F);
}

TEST_CASE("linear: shapes that do not match throw", "[autograd]") {
  Tape<float> tape;
  const auto of = [&](Shape shape) { return tape.constant(Tensor<float>(shape)); };
  CHECK_THROWS_WITH(
      linear(of({2, 3}), of({5, 4})),
      "linear: input: expected shape [..., 4] for a weight of shape [5, 4], got [2, 3]");
  CHECK_THROWS_WITH(linear(of({2, 4}), of({5, 4}), of({4})), "linear: bias: expected [5], got [4]");
  CHECK_THROWS_WITH(linear(of({2, 4}), of({4})),
                    "linear: weight: expected shape [out, in], got [4]");
}

TEST_CASE("linear: the same bits on 1, 2, 3 and 8 threads", "[autograd]") {
  Random random(3);
  const auto x = random.normal_tensor<float>({1000, 96});
  Parameter<float> weight(random.normal_tensor<float>({200, 96}));
  Parameter<float> bias(random.normal_tensor<float>({200}));
  check_same_bits([&] {
    Tape<float> tape;
    const auto y =
        linear(tape.constant(x), tape.parameter(weight), tape.parameter(bias), Activation::gelu);
    weight.zero_grad();
    bias.zero_grad();
    tape.backward(y, y.value());
    return std::vector<Tensor<float>>{y.value(), weight.grad().clone(), bias.grad().clone()};
  });
}

namespace {

std::vector<GradientCase> gradient_rows() {
  return {
      {"matmul",
       "of two matrices",
       {{3, 4}, {4, 5}},
       {{200, 110}, {110, 144}},
       [](const auto& x) { return matmul(x[0], x[1]); }},
      {"matmul",
       "with a transposed",
       {{4, 3}, {4, 5}},
       {{110, 200}, {110, 144}},
       [](const auto& x) { return matmul(x[0], x[1], {.transpose_a = true}); }},
      {"matmul",
       "with b transposed",
       {{3, 4}, {5, 4}},
       {{200, 110}, {144, 110}},
       [](const auto& x) { return matmul(x[0], x[1], {.transpose_b = true}); }},
      {"matmul",
       "with both transposed",
       {{4, 3}, {5, 4}},
       {{110, 200}, {144, 110}},
       [](const auto& x) {
         return matmul(x[0], x[1], {.transpose_a = true, .transpose_b = true});
       }},
      {"matmul",
       "of a batch",
       {{2, 3, 4}, {2, 4, 5}},
       {{300, 10, 12}, {300, 12, 11}},
       [](const auto& x) { return matmul(x[0], x[1]); }},
      {"matmul",
       "of a batch with both transposed",
       {{2, 2, 4, 3}, {2, 2, 5, 4}},
       {{30, 10, 12, 10}, {30, 10, 11, 12}},
       [](const auto& x) {
         return matmul(x[0], x[1], {.transpose_a = true, .transpose_b = true});
       }},
      {"matmul",
       "of a batch and one matrix",
       {{2, 3, 4}, {4, 5}},
       {{3, 200, 110}, {110, 144}},
       [](const auto& x) { return matmul(x[0], x[1]); }},
      {"matmul",
       "of a transposed batch and one transposed matrix",
       {{2, 4, 3}, {5, 4}},
       {{300, 12, 10}, {11, 12}},
       [](const auto& x) {
         return matmul(x[0], x[1], {.transpose_a = true, .transpose_b = true});
       }},
      {"matmul",
       "of a row and a column",
       {{1, 4}, {4, 1}},
       {{1, 5000}, {5000, 1}},
       [](const auto& x) { return matmul(x[0], x[1]); }},
      {"linear",
       "with a bias",
       {{2, 3, 4}, {5, 4}, {5}},
       {{20, 30, 50}, {110, 50}, {110}},
       [](const auto& x) { return linear(x[0], x[1], x[2]); }},
      {"linear",
       "without a bias",
       {{3, 4}, {5, 4}},
       {{600, 50}, {110, 50}},
       [](const auto& x) { return linear(x[0], x[1]); }},
      {"linear",
       "of one vector",
       {{4}, {5, 4}, {5}},
       {{500}, {150, 500}, {150}},
       [](const auto& x) { return linear(x[0], x[1], x[2]); }},
      {"linear",
       "of a few vectors",
       {{3, 4}, {5, 4}, {5}},
       {{9, 300}, {200, 300}, {200}},
       [](const auto& x) { return linear(x[0], x[1], x[2], Activation::gelu_tanh); }},
      {"linear",
       "and gelu",
       {{3, 4}, {5, 4}, {5}},
       {{700, 20}, {150, 20}, {150}},
       [](const auto& x) { return linear(x[0], x[1], x[2], Activation::gelu); }},
      {"linear",
       "and gelu's approximation",
       {{3, 4}, {5, 4}, {5}},
       {{700, 20}, {150, 20}, {150}},
       [](const auto& x) { return linear(x[0], x[1], x[2], Activation::gelu_tanh); }},
      {"linear",
       "and tanh",
       {{3, 4}, {5, 4}},
       {{700, 20}, {150, 20}},
       [](const auto& x) { return linear(x[0], x[1], Activation::tanh); }},
      {"linear",
       "and sigmoid",
       {{3, 4}, {5, 4}, {5}},
       {{700, 20}, {150, 20}, {150}},
       [](const auto& x) { return linear(x[0], x[1], x[2], Activation::sigmoid); }},
      // Sums of signs and 0.5 are nowhere near the kink.
      {"linear",
       "and relu, away from its kink",
       {positive({3, 4}), positive({5, 4}), positive({5})},
       {signs({700, 20}), signs({150, 20}), Tensor<double>::full({150}, 0.5)},
       [](const auto& x) { return linear(x[0], x[1], x[2], Activation::relu); }},
  };
}

const GradientRows registered(gradient_rows());

}  // namespace
}  // namespace weft
