#include <iostream>

#include <weft/weft.hpp>

using namespace weft;

int main() {
  Parameter<float> w(Tensor<float>({}, {3}));
  Tape tape;
  const Var x = tape.constant(Tensor<float>({}, {2}));
  const Var y = x * tape.parameter(w);
  tape.backward(y);
  std::cout << "y " << y.item() << ", dy/dw " << w.grad().item() << '\n';
}
