// GradientObserver: follows how the gradients of parameters are completed.
#include <map>

#include <weft/autograd/operation.hpp>
#include <weft/autograd/ops/arithmetic.hpp>
#include <weft/autograd/ops/elementwise.hpp>
#include <weft/autograd/ops/recompute.hpp>
#include <weft/autograd/ops/reductions.hpp>
#include "tests/catch.hpp"

namespace weft {
namespace {

class Uses final : public GradientObserver<float> {
 public:
  void used(const GradientSum<float>& sum) override { ++uses[&sum]; }
  void passed(const GradientSum<float>& sum) override {
    if (--uses[&sum] == 0) completed.push_back(sum.values().item());
  }

  int of(const Parameter<float>& parameter) { return uses[&parameter.gradient_sum()]; }

  std::map<const GradientSum<float>*, int> uses;
  std::vector<float> completed;  // the gradients
};

Parameter<float> parameter_of(float value) { return Parameter<float>(Tensor<float>({1}, {value})); }

}  // namespace

TEST_CASE("gradient observer: a gradient is complete when all uses are passed", "[autograd]") {
  const Parameter<float> a = parameter_of(2), b = parameter_of(3);
  Uses uses;
  Tape<float> tape;
  tape.pass().set_observer(&uses);
  const Var x = tape.parameter(a);
  const Var loss = sum(x * tape.parameter(b) * tape.parameter(a));
  CHECK(uses.of(a) == 2);
  CHECK(uses.of(b) == 1);
  tape.backward(loss, {.keep_pass = true});
  CHECK(uses.completed.empty());
  a.gradient_sum().clear();
  b.gradient_sum().clear();
  tape.backward(loss);
  // a b a: first b's, whose only use comes after a's first.
  CHECK(uses.completed == std::vector<float>{4, 12});
}

TEST_CASE("gradient observer: uses in a part that is computed again are never complete",
          "[autograd]") {
  const Parameter<float> a = parameter_of(2), b = parameter_of(3);
  Uses uses;
  Tape<float> tape;
  tape.pass().set_observer(&uses);
  const Var y =
      recompute([&a](const Var<float>& x) { return x * x.tape().parameter(a); }, tape.parameter(b));
  tape.backward(sum(y * tape.parameter(a)));
  CHECK(uses.of(a) > 0);
  CHECK(uses.of(b) == 0);
  CHECK(uses.completed == std::vector<float>{4});
}

}  // namespace weft
