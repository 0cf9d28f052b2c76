// GradientTarget: where the gradients of parameters are added, and when they are complete.
#include <map>

#include <weft/autograd/operation.hpp>
#include <weft/autograd/ops/arithmetic.hpp>
#include <weft/autograd/ops/elementwise.hpp>
#include <weft/autograd/ops/recompute.hpp>
#include <weft/autograd/ops/reductions.hpp>
#include "tests/catch.hpp"

namespace weft {
namespace {

class Uses final : public GradientTarget<float> {
 public:
  GradientAccumulator<float>& use(const Parameter<float>& parameter) override {
    ++uses[&parameter];
    return sums.try_emplace(&parameter, parameter.shape()).first->second;
  }
  void passed(const Parameter<float>& parameter) override {
    if (--uses[&parameter] == 0) completed.push_back(sums[&parameter].values().item());
  }
  void clear() {
    for (auto& [parameter, sum] : sums) sum.clear();
  }

  std::map<const Parameter<float>*, int> uses;
  std::map<const Parameter<float>*, GradientAccumulator<float>> sums;
  std::vector<float> completed;  // the gradients
};

Parameter<float> parameter_of(float value) { return Parameter<float>(Tensor<float>({1}, {value})); }

}  // namespace

TEST_CASE("gradient target: a gradient is complete when all uses are passed", "[autograd]") {
  const Parameter<float> a = parameter_of(2), b = parameter_of(3);
  Uses uses;
  Tape<float> tape;
  tape.set_gradient_target(&uses);
  const Var x = tape.parameter(a);
  const Var loss = sum(x * tape.parameter(b) * tape.parameter(a));
  CHECK(uses.uses[&a] == 2);
  CHECK(uses.uses[&b] == 1);
  tape.backward(loss, {.retain_graph = true});
  CHECK(uses.completed.empty());
  uses.clear();
  tape.backward(loss);
  // a b a: first b's, whose only use comes after a's first.
  CHECK(uses.completed == std::vector<float>{4, 12});
  CHECK(!a.has_grad());
}

TEST_CASE("gradient target: uses in a part that is computed again are never complete",
          "[autograd]") {
  const Parameter<float> a = parameter_of(2), b = parameter_of(3);
  Uses uses;
  Tape<float> tape;
  tape.set_gradient_target(&uses);
  const Var y =
      recompute([&a](const Var<float>& x) { return x * x.tape().parameter(a); }, tape.parameter(b));
  tape.backward(sum(y * tape.parameter(a)));
  CHECK(uses.uses[&a] > 0);
  CHECK(uses.uses[&b] == 0);
  CHECK(uses.completed == std::vector<float>{4});
}

}  // namespace weft
