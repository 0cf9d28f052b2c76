#include <weft/autograd/gradcheck.hpp>
#include <weft/autograd/operation.hpp>
#include <weft/autograd/ops/arithmetic.hpp>
#include <weft/autograd/ops/reductions.hpp>
#include "tests/catch.hpp"
#include "tests/compare.hpp"
#include "tests/consumers/square.hpp"
#include "tests/messages.hpp"
#include "tests/tight_bound.hpp"

namespace weft {

TEST_CASE("operation: transform covers every range of elements", "[autograd]") {
  constexpr Index size = 100'003;
  Random random(1);
  const auto a = random.normal_tensor<double>({size}), b = random.normal_tensor<double>({size});
  Tensor<double> y({size});
  transform([](double x, double z) { return 2 * x - z; }, y, a, b);
  for (Index i = 0; i < size; ++i) REQUIRE(y(i) == 2 * a(i) - b(i));
}

TEST_CASE("operation: Gradient::add overwrites first and adds then, in every range", "[autograd]") {
  constexpr Index size = 100'003;
  Random random(2);
  Parameter<float> x(random.normal_tensor<float>({size}));
  Tape<float> tape;
  const auto twice = [&] {
    const Var<float> v = tape.parameter(x);
    tape.backward(sum(square(v) + square(v)));
  };
  twice();
  for (Index i = 0; i < size; ++i) REQUIRE(x.grad()(i) == 4 * x.value()(i));
  twice();
  for (Index i = 0; i < size; ++i) REQUIRE(x.grad()(i) == 8 * x.value()(i));
}

TEST_CASE("operation: one outside the library has the gradient that it says", "[autograd]") {
  Random random(3);
  Parameter<double> x(random.normal_tensor<double>({4, 3}));
  const auto function = [&](Tape<double>& tape) { return square(tape.parameter(x)); };
  CHECK(gradcheck(function, {{"x", &x}}, tight_bound).passed());
}

TEST_CASE("operation: tensors of another size throw, and so do inputs of two tapes", "[autograd]") {
  Tensor<float> y({4});
  CHECK(message_of<ShapeError>([&] {
          transform([](float v) { return v; }, y, Tensor<float>({2, 3}));
        }) == "element-wise function: expected inputs of 4 elements, got [2, 3]");
  Tape<float> one, two;
  const Var<float> a = one.constant(y), b = two.constant(y);
  CHECK(message_of<Error>([&] { tape_of("mine", a, b); }) ==
        "mine: expected inputs on one tape, got inputs on different tapes (write tape.constant(x) "
        "for a tensor x)");
}

}  // namespace weft
