// The values of reductions and of operations that move elements, at the size of several ranges,
// against plain loops.
#include <cmath>
#include <numeric>

#include <weft/autograd/ops/permute.hpp>
#include <weft/autograd/ops/reductions.hpp>
#include <weft/autograd/ops/rotary_embedding.hpp>
#include <weft/autograd/ops/shaping.hpp>
#include <weft/autograd/ops/unfold.hpp>
#include <weft/autograd/random.hpp>
#include "tests/autograd/gradient_table.hpp"
#include "tests/catch.hpp"
#include "tests/compare.hpp"

namespace weft {
namespace {

// 0, 1, 2, …: every element tells where it comes from.
Tensor<double> counted(const Shape& shape) {
  Tensor<double> numbers(shape);
  std::iota(numbers.begin(), numbers.end(), 0.0);
  return numbers;
}

// A tensor whose element at an index [i, j, k] is given by a formula.
template <class Formula>
Tensor<double> tensor_of(const Shape& shape, const Formula& formula) {
  Tensor<double> result(shape);
  for (Index i = 0; i < result.size(); ++i) {
    const Index last = i % shape[2], middle = i / shape[2] % shape[1];
    result.data()[i] = formula(i / shape[2] / shape[1], middle, last);
  }
  return result;
}

}  // namespace

TEST_CASE("values at size: elements that move", "[autograd]") {
  const Tensor<double> x = counted({30, 40, 50});
  Tape<double> tape;
  const Var<double> input = tape.constant(x);
  const auto at = [&](Index i, Index j, Index k) { return x(i, j, k); };
  CHECK(same(permute(input, {1, 0, 2}).value(),
             tensor_of({40, 30, 50}, [&](Index i, Index j, Index k) { return at(j, i, k); })));
  CHECK(same(permute(input, {2, 0, 1}).value(),
             tensor_of({50, 30, 40}, [&](Index i, Index j, Index k) { return at(j, k, i); })));
  CHECK(same(transpose(input, 0, 2).value(),
             tensor_of({50, 40, 30}, [&](Index i, Index j, Index k) { return at(k, j, i); })));
  CHECK(same(slice(input, 1, 2, 35).value(),
             tensor_of({30, 33, 50}, [&](Index i, Index j, Index k) { return at(i, j + 2, k); })));
  CHECK(same(slice(input, 2, 1, 49).value(),
             tensor_of({30, 40, 48}, [&](Index i, Index j, Index k) { return at(i, j, k + 1); })));
  CHECK(same(repeat(input, 1, 3).value(),
             tensor_of({30, 120, 50}, [&](Index i, Index j, Index k) { return at(i, j / 3, k); })));
  const Var<double> negative = tape.constant(
      tensor_of({30, 40, 45}, [&](Index i, Index j, Index k) { return -at(i, j, k); }));
  CHECK(same(concatenate(std::vector{input, negative}, 2).value(),
             tensor_of({30, 40, 95}, [&](Index i, Index j, Index k) {
               return k < 50 ? at(i, j, k) : -at(i, j, k - 50);
             })));
  const Var<double> matrix = tape.constant(counted({301, 290}));
  CHECK(same(transpose(matrix).value().reshaped({1, 290, 301}),
             tensor_of({1, 290, 301},
                       [](Index, Index i, Index j) { return static_cast<double>(j * 290 + i); })));
}

TEST_CASE("values at size: windows of sequences with lengths", "[autograd]") {
  const Tensor<double> x = counted({20, 300, 10});
  const ValidLens lengths = random_lengths({20}, 300);
  Tape<double> tape;
  const Var<double> y =
      unfold(tape.constant(x), {.size = 3, .dilation = 2, .stride = 2, .before = 3}, lengths);
  const Index windows = (300 + 3 - 5) / 2 + 1;
  CHECK(same(y.value(), tensor_of({20, windows, 30}, [&](Index b, Index window, Index column) {
               const Index i = window * 2 - 3 + column / 10 * 2;
               return i < 0 || i >= lengths.length(b, 0, 300) ? 0.0 : x(b, i, column % 10);
             })));
}

TEST_CASE("values at size: rotary embeddings of two heads", "[autograd]") {
  const Tensor<double> x = Random(1).normal_tensor<double>({10, 70, 32});
  Tape<double> tape;
  for (const RotaryPairs pairs : {RotaryPairs::interleaved, RotaryPairs::halves}) {
    const Var<double> y =
        rotary_embedding(tape.constant(x), 2, {.base = 500.0, .pairs = pairs, .first_position = 4});
    const auto expected = tensor_of(x.shape(), [&](Index b, Index position, Index column) {
      const Index head = column / 16 * 16, channel = column % 16;
      const bool interleaved = pairs == RotaryPairs::interleaved;
      const Index pair = interleaved ? channel / 2 : channel % 8;
      const bool second = interleaved ? channel % 2 == 1 : channel >= 8;
      const double u = x(b, position, head + (interleaved ? 2 * pair : pair));
      const double v = x(b, position, head + (interleaved ? 2 * pair + 1 : pair + 8));
      const double angle = static_cast<double>(position + 4) *
                           std::pow(500.0, -2.0 * static_cast<double>(pair) / 16.0);
      return second ? u * std::sin(angle) + v * std::cos(angle)
                    : u * std::cos(angle) - v * std::sin(angle);
    });
    CHECK(distance(y.value(), expected) < 1e-12);
  }
}

TEMPLATE_TEST_CASE("values at size: reductions over each axis", "[autograd]", float, double) {
  constexpr double tolerance = std::is_same_v<TestType, float> ? 1e-5 : 1e-12;
  // Several parts of the reduced axis and several tiles of columns, as the first, the middle and
  // the last axis.
  for (const Shape& shape : {Shape{1, 150, 2100}, Shape{40, 70, 21}, Shape{90, 1100, 1}}) {
    const auto x = Random(1).normal_tensor<TestType>(shape, 0.5, 1.0);
    const Index outer = shape[0], n = shape[1], inner = shape[2];
    Tensor<double> sum({outer, inner}), largest({outer, inner}), variances({outer, inner});
    for (Index i = 0; i < outer; ++i)
      for (Index k = 0; k < inner; ++k) {
        const auto at = [&](Index j) { return static_cast<double>(x(i, j, k)); };
        largest(i, k) = at(0);
        for (Index j = 0; j < n; ++j) {
          sum(i, k) += at(j);
          largest(i, k) = std::max(largest(i, k), at(j));
        }
        const double mean = sum(i, k) / static_cast<double>(n);
        for (Index j = 0; j < n; ++j)
          variances(i, k) += std::pow(at(j) - mean, 2) / static_cast<double>(n - 1);
      }
    Tensor<double> means = sum.clone();
    for (double& mean : means) mean /= static_cast<double>(n);
    INFO("axis 1 of " << shape);
    Tape<TestType> tape;
    const Var<TestType> input = tape.constant(x);
    CHECK(distance(weft::sum(input, {1}).value(), sum) < tolerance);
    CHECK(distance(mean(input, {1}).value(), means) < tolerance);
    CHECK(distance(max(input, {1}).value(), largest) < tolerance);
    CHECK(distance(variance(input, {1}).value(), variances) < tolerance);
  }
  const auto x = Random(1).normal_tensor<TestType>({520, 1010}, 0.5, 1.0);
  const auto count = static_cast<double>(x.size());
  double sum_of_all = 0.0, squares = 0.0;
  for (const TestType value : x) sum_of_all += static_cast<double>(value);
  for (const TestType value : x)
    squares += std::pow(static_cast<double>(value) - sum_of_all / count, 2);
  Tape<TestType> tape;
  const Var<TestType> input = tape.constant(x);
  CHECK(sum(input).item() == Approx(sum_of_all).epsilon(tolerance));
  CHECK(mean(input).item() == Approx(sum_of_all / count).epsilon(tolerance));
  CHECK(max(input).item() == *std::max_element(x.begin(), x.end()));
  CHECK(variance(input).item() == Approx(squares / (count - 1.0)).epsilon(tolerance));
}

}  // namespace weft
