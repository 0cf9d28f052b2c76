#include <iostream>

#include <weft/weft.hpp>

using namespace weft;

// Forward:  y = x³.
// Backward: dx = 3 x² dy.
template <class T>
Var<T> cube(const Var<T>& x, T factor = 3) {
  Tensor<T> y = x.tape().uninitialized(x.shape());
  transform([](T v) { return v * v * v; }, y, x.value());
  return x.tape().record(
      "cube", y, {x.node()},
      [x = x.node(), v = x.value(), factor](Tape<T>& backward, const Tensor<T>& dy) {
        backward.gradient(x).add([factor](T a, T g) { return factor * a * a * g; }, v, dy);
      });
}

int main() {
  Random random(1);
  Parameter<double> x(random.normal_tensor<double>({2, 3}));
  const auto check = [&](double factor) {
    return gradcheck([&](Tape<double>& tape) { return cube(tape.parameter(x), factor); },
                     {{"x", &x}});
  };
  std::cout << check(3) << '\n' << check(2);  // the correct gradient, and a wrong gradient
}
