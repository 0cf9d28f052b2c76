#include <cmath>

#include <weft/autograd/ops/arithmetic.hpp>
#include <weft/autograd/ops/elementwise.hpp>
#include <weft/autograd/ops/normalization.hpp>
#include <weft/autograd/ops/reductions.hpp>
#include <weft/autograd/random.hpp>
#include "tests/autograd/gradient_table.hpp"
#include "tests/autograd/same_bits.hpp"
#include "tests/catch.hpp"
#include "tests/compare.hpp"
#include "tests/messages.hpp"

namespace weft {
namespace {

const GradientRows registered({
    {"rms_norm",
     "rows of a batch",
     {{2, 3, 5}, {5}},
     {{10, 90, 33}, {33}},
     [](const auto& x) { return rms_norm(x[0], x[1]); }},
    {"rms_norm",
     "with a large eps",
     {{4, 3}, {3}},
     {{900, 33}, {33}},
     [](const auto& x) { return rms_norm(x[0], x[1], 0.5); }},
});

// The same by operations of its own.
template <class T>
Var<T> composed(const Var<T>& x, const Var<T>& weight, double eps) {
  const Var<T> mean_square = mean(x * x, {-1}, true);
  const Tensor<T> offset = Tensor<T>::full({1}, static_cast<T>(eps));
  return x * power(mean_square + x.tape().constant(offset), -0.5) * weight;
}

}  // namespace

TEST_CASE("rms norm: a row by hand", "[autograd]") {
  Tape<double> tape;
  const Var x = tape.constant(Tensor<double>({1, 2}, {3, 4}));
  const Var weight = tape.constant(Tensor<double>({2}, {1, 10}));
  // √((9 + 16) / 2) = 5 / √2
  const Tensor<double> expected({1, 2}, {3 * std::sqrt(2.0) / 5, 40 * std::sqrt(2.0) / 5});
  CHECK(distance(rms_norm(x, weight, 0.0).value(), expected) < 1e-15);
}

TEMPLATE_TEST_CASE("rms norm: agrees with its composition over many ranges of rows", "[autograd]",
                   float, double) {
  Random random(3);
  Parameter<TestType> x(random.normal_tensor<TestType>({1700, 33}));
  Parameter<TestType> weight(random.normal_tensor<TestType>({33}));
  const auto upstream = random.normal_tensor<TestType>({1700, 33});
  const auto run = [&](const auto& function) {
    x.zero_grad();
    weight.zero_grad();
    Tape<TestType> tape;
    const Var<TestType> y = function(tape.parameter(x), tape.parameter(weight), 1e-5);
    const Tensor<TestType> value = y.value();
    tape.backward(y, upstream);
    return std::vector{value, x.grad().clone(), weight.grad().clone()};
  };
  const auto fused = run(rms_norm<TestType>), plain = run(composed<TestType>);
  for (std::size_t i = 0; i < fused.size(); ++i)
    CHECK(distance(fused[i], plain[i]) < (std::is_same_v<TestType, float> ? 2e-5 : 1e-13));
}

TEST_CASE("rms norm: the same bits on 1, 2, 3 and 8 threads", "[autograd]") {
  Random random(5);
  Parameter<float> x(random.normal_tensor<float>({700, 60}));
  Parameter<float> weight(random.normal_tensor<float>({60}));
  check_same_bits([&] {
    Tape<float> tape;
    const auto y = rms_norm(tape.parameter(x), tape.parameter(weight));
    x.zero_grad();
    weight.zero_grad();
    tape.backward(y, y.value());
    return std::vector{y.value(), x.grad().clone(), weight.grad().clone()};
  });
}

TEST_CASE("rms norm: wrong shapes and a negative eps throw", "[autograd]") {
  Tape<float> tape;
  const Var x = tape.constant(Tensor<float>({2, 3}));
  CHECK(message_of<ShapeError>([&] { rms_norm(x, tape.constant(Tensor<float>({2}))); }) ==
        "rms_norm: weight: expected [3] for x of shape [2, 3], got [2]");
  CHECK(message_of<ValueError>([&] { rms_norm(x, tape.constant(Tensor<float>({3})), -1.0); }) ==
        "rms_norm: eps: expected a number ≥ 0, got -1");
  CHECK_THROWS_AS(rms_norm(tape.constant(Tensor<float>(Shape{})), x), ShapeError);
}

}  // namespace weft
