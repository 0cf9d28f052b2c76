#include <iostream>

#include <weft/weft.hpp>

int main() {
  using namespace weft;
  Random random(42);
  PositionWiseFeedForward model({.num_hiddens = 2, .ffn_num_hiddens = 16}, random);
  const Tensor<float> inputs({4, 2}, {0, 0, 0, 1, 1, 0, 1, 1});
  const Tokens exclusive_or({4}, {0, 1, 1, 0});

  AdamW optimizer(model, {.lr = 0.02});
  Tape tape({.training = true});
  for (int step = 1; step <= 300; ++step) {
    const Var loss = cross_entropy(model(tape.constant(inputs)), exclusive_or);
    if (step % 100 == 0) std::cout << "step " << step << "  loss " << loss.item() << '\n';
    tape.backward(loss);
    optimizer.step();
  }
}
