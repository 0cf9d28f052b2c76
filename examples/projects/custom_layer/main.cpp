// A custom operation and a custom layer in a project outside weft's tree, with a gradient check.
#include <cmath>
#include <iostream>

#include <weft/weft.hpp>

using namespace weft;

// Forward:  y = log(cosh(x)).
// Backward: dx = tanh(x) · dy.
template <class T>
Var<T> log_cosh(const Var<T>& x) {
  const Var<T> v = x.value();  // a constant, for computing without gradients
  const Var<T> y = v + softplus(-2 * v) - std::log(T{2});
  const auto backward = [x = x.node(), v = x.value()](Tape<T>& tape, const Tensor<T>& dy) {
    tape.gradient(x).add([](T a, T g) { return std::tanh(a) * g; }, v, dy);
  };
  return x.tape().record("log_cosh", y.value(), {x.node()}, backward);
}

// value(x) · σ(gate(x)) (Dauphin et al., 2017).
template <class T = float>
struct GatedLinear : Module<T> {
  GatedLinear(Index in_features, Index out_features, Random& random)
      : value({in_features, out_features}, random), gate({in_features, out_features}, random) {}

  // Maps x [..., in_features] to [..., out_features].
  Var<T> operator()(const Var<T>& x) const { return value(x) * gate(x, Activation::sigmoid); }

  void members(Members<T>& members) const override {
    members("value", value);
    members("gate", gate);
  }

  Linear<T> value, gate;
};

int main() {
  Random random(1);
  GatedLinear<double> layer(3, 2, random);
  Parameter<double> x(random.normal_tensor<double>({4, 3}));
  NamedParameters<double> parameters = named_parameters(layer);
  parameters.push_back({"x", &x});
  const GradCheckReport report =
      gradcheck([&](Tape<double>& tape) { return log_cosh(layer(tape.parameter(x))); }, parameters);
  std::cout << report;
  return report.passed() ? 0 : 1;
}
