// A custom operation and a custom layer in a project outside weft's tree, with a gradient check.
#include <cmath>
#include <iostream>

#include <weft/weft.hpp>

using namespace weft;

// Forward:  y = log(cosh(x)).
// Backward: dx = tanh(x) · dy.
template <class T>
Var<T> log_cosh(const Var<T>& x) {
  Tensor<T> y = x.tape().uninitialized(x.shape());
  transform(
      [](T v) { return std::abs(v) + std::log1p(std::exp(-2 * std::abs(v))) - std::log(T{2}); }, y,
      x.value());
  return x.tape().record("log_cosh", y, {x.node()},
                         [x = x.node(), v = x.value()](Tape<T>& backward, const Tensor<T>& dy) {
                           backward.gradient(x).add([](T a, T g) { return std::tanh(a) * g; }, v,
                                                    dy);
                         });
}

// value(x) · σ(gate(x)) (Dauphin et al., 2017).
template <class T = float>
struct GatedLinear : Module<T> {
  GatedLinear(Index in_features, Index out_features, Random& random)
      : value({in_features, out_features}, random), gate({in_features, out_features}, random) {}

  // Maps x [..., in_features] to [..., out_features].
  Var<T> operator()(const Var<T>& x) const { return value(x) * gate(x, Activation::sigmoid); }

  void members(Members<T>& members) const override {
    members.type("GatedLinear");
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
