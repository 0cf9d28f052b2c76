#include <cmath>
#include <utility>

#include <weft/autograd/ops/cumsum.hpp>
#include <weft/autograd/random.hpp>
#include "tests/autograd/gradient_table.hpp"
#include "tests/autograd/same_bits.hpp"
#include "tests/catch.hpp"
#include "tests/compare.hpp"

namespace weft {

TEMPLATE_TEST_CASE("cumsum: values computed by hand", "[autograd]", float, double) {
  Tape<TestType> tape;
  const auto x = tape.constant(Tensor<TestType>({2, 3}, {1, 2, 3, 4, 5, 6}));
  CHECK(same(cumsum(x, 1).value(), Tensor<TestType>({2, 3}, {1, 3, 6, 4, 9, 15})));
  CHECK(same(cumsum(x, -2).value(), Tensor<TestType>({2, 3}, {1, 2, 3, 5, 7, 9})));
  CHECK(cumsum(tape.constant(Tensor<TestType>({0, 2})), 0).shape() == Shape{0, 2});
}

TEST_CASE("cumsum: the gradient of an element is the sum of the later ones", "[autograd]") {
  const Parameter<float> p(Tensor<float>({3}, {7, 8, 9}));
  Tape<float> tape;
  tape.backward(cumsum(tape.parameter(p), 0), Tensor<float>({3}, {1, 10, 100}));
  CHECK(same(p.grad(), Tensor<float>({3}, {111, 110, 100})));
}

TEST_CASE("cumsum: float sums of many elements are accurate", "[autograd]") {
  auto tape = Tape<float>::inference();
  const auto y = cumsum(tape.constant(Tensor<float>::full({1000000}, 0.1F)), 0);
  CHECK(y.value()(999999) == Approx(1e6 * static_cast<double>(0.1F)).epsilon(1e-7));
}

TEST_CASE("cumsum: an axis that does not exist throws", "[autograd]") {
  Tape<float> tape;
  CHECK_THROWS_AS(cumsum(tape.constant(Tensor<float>({2, 3})), 2), ShapeError);
  CHECK_THROWS_WITH(cumsum(tape.constant(Tensor<float>({2, 3})), 2),
                    "cumsum: expected an axis of [2, 3], got 2");
}

TEST_CASE("cumsum: at the size of several ranges, on any number of threads", "[autograd]") {
  Parameter<double> p(Random(3).normal_tensor<double>({30, 50, 130}));
  const Tensor<double>& x = p.value();
  for (const Index axis : {0, 1, 2}) {
    Index inner = 1;
    for (Index i = axis + 1; i < 3; ++i) inner *= x.shape()[i];
    check_same_bits([&] {
      Tape<double> tape;
      p.zero_grad();
      const Var y = cumsum(tape.parameter(p), axis);
      tape.backward(y, x);
      Index wrong = 0;
      for (Index i = 0; i < x.size(); ++i) {
        const bool first = i / inner % x.shape()[axis] == 0;
        const double before = first ? 0.0 : y.value().data()[i - inner];
        wrong += std::abs(y.value().data()[i] - before - x.data()[i]) > 1e-12;
        // Upstream, the gradient of an element is the difference of two.
        const bool last = i / inner % x.shape()[axis] == x.shape()[axis] - 1;
        const double after = last ? 0.0 : std::as_const(p).grad().data()[i + inner];
        wrong += i % 97 == 0 && std::abs(p.grad().data()[i] - after - x.data()[i]) > 1e-12;
      }
      CHECK(wrong == 0);
      return std::vector{y.value(), p.grad().clone()};
    });
  }
}

namespace {

const GradientRows registered({
    {"cumsum",
     "the last axis",
     {{3, 4}},
     {{300, 70}},
     [](const auto& x) { return cumsum(x[0], -1); }},
    {"cumsum",
     "an axis in the middle",
     {{2, 3, 4}},
     {{20, 60, 150}},
     [](const auto& x) { return cumsum(x[0], 1); }},
});

}  // namespace
}  // namespace weft
