#include <iostream>

#include <weft/weft.hpp>

using namespace weft;

int main() {
  const Tensor<float> inputs({3, 2}, {1, 0, 0, 1, 1, 1});  // an array with a shape
  Parameter<float> w(Tensor<float>({2}, {2, -1}));         // a trainable tensor

  Tape tape;                            // records one pass
  const Var x = tape.constant(inputs);  // an input without a gradient
  const Var y = x * tape.parameter(w);  // [3, 2]: w is broadcast over the rows
  const Var loss = mean(power(sum(y, {-1}), 2));
  std::cout << "y " << y.shape() << ", loss " << loss.item() << '\n';

  tape.backward(loss);  // adds d loss / d w to the gradient of w, and ends the pass
  std::cout << "gradient " << w.grad() << '\n';

  SGD optimizer({&w}, {.lr = 0.1});
  optimizer.step();  // w ← w - 0.1 · gradient, and clears the gradient
  std::cout << "w " << w << '\n';
}
