#include <iostream>

#include <weft/weft.hpp>

using namespace weft;

int main() {
  const Tokens tokens({4, 128}), targets({4, 128});
  for (const bool recompute : {false, true}) {
    Random random(1);
    const Gpt model({.vocabulary_size = 256,
                     .max_len = 128,
                     .num_hiddens = 64,
                     .num_heads = 4,
                     .num_blocks = 6,
                     .recompute = recompute},
                    random);
    Tape tape({.training = true});
    tape.backward(cross_entropy(model(tape, tokens), targets));
    std::cout << "training" << (recompute ? ", recomputed: " : ": ")
              << tape.memory().bytes_held / 1024 << " KiB\n";
    if (recompute) continue;
    Tape inference = Tape<float>::inference();
    model(inference, tokens);
    std::cout << "inference: " << inference.memory().bytes_held / 1024 << " KiB\n";
  }
}
