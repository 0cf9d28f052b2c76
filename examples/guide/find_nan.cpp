#include <cmath>
#include <iostream>

#include <weft/weft.hpp>

using namespace weft;

int main() {
  Parameter<float> w(Tensor<float>({2}, {1, 0}));
  for (const bool detect : {false, true}) try {
      Tape tape({.detect_anomaly = detect});
      const Var y = log(tape.parameter(w));
      const Var loss = sum(y * tape.constant(Tensor<float>({2}, {1, 0})));
      std::cout << "loss " << (std::isnan(loss.item()) ? "NaN" : "a number") << '\n';
    } catch (const NonFiniteError& error) {
      std::cout << error.what() << '\n';
    }
}
