#include <iostream>

#include <weft/weft.hpp>

using namespace weft;

int main() {
  Tape tape;
  const Var x = tape.variable(Tensor<float>({3}, {-1, 0.5, 2}));  // an input with a gradient
  const Var z = 0.5f * (1 - x) + where(x > 0, x, 0);  // numbers and variables can be mixed
  const Var square_sum = sum(power(z, 2)), z_sum = sum(detach(z) * x);

  // Two results of one pass: the first call keeps the pass for the second call.
  const Tensor<float> of_squares = tape.gradients(square_sum, {x}, {.retain_graph = true})[0];
  const Tensor<float> of_products = tape.gradients(z_sum, {x})[0];
  std::cout << of_squares << '\n' << of_products << '\n';

  // Applies an operation to a plain tensor, without a tape.
  const Tensor<float> logits({3}, {0, 1, 2});
  std::cout << softmax(Var(logits)) << '\n';
}
