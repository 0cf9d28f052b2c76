// Profiles the steps of your own training loop.
#include <iostream>

#include <weft/weft.hpp>

using namespace weft;

int main() {
  Random random(1);
  Gpt model(
      {.vocabulary_size = 65, .max_len = 64, .num_hiddens = 128, .num_heads = 4, .num_blocks = 2},
      random);
  AdamW optimizer(model, {.lr = 1e-3});
  Tokens tokens({8, 64});
  for (TokenId& token : tokens) token = static_cast<TokenId>(random.below(65));
  const Tokens targets = tokens;

  // Prints the cost of a pass before training.
  std::cout << pass_table(model, [&](Tape<float>& tape) { model(tape, tokens); }) << '\n';

  Profile profile(model);
  Tape tape({.training = true, .observer = &profile});
  for (int step = 0; step < 10; ++step) {
    {
      const Profile::Phase phase(&profile, "forward and backward");
      tape.backward(cross_entropy(model(tape, tokens), targets));
    }
    {
      const Profile::Phase phase(&profile, "optimizer");
      optimizer.step();
      optimizer.zero_grad();
    }
    profile.end_step();
  }
  profile.count_memory(optimizer);
  std::cout << profile.phase_table() << '\n'
            << profile.operation_table() << '\n'
            << profile.memory_table();
}
