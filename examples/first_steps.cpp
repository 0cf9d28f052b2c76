#include <iostream>

#include <weft/weft.hpp>

int main() {
  using namespace weft;
  // Sequences of eight digits. The question is whether the first digit occurs again.
  Random random(42);
  Tokens digits({4000, 8}), answers({4000});
  for (TokenId& digit : digits) digit = static_cast<TokenId>(random.below(10));
  for (Index i = 0; i < 4000; ++i)
    for (Index j = 1; j < 8; ++j)
      if (digits(i, j) == digits(i, 0)) answers(i) = 1;
  TensorBatches<TokenId> batches(digits, answers, {.batch_size = 50});

  const EncoderClassifierOptions options{
      .vocabulary_size = 10,
      .num_classes = 2,
      .max_len = 8,
      .learned_positions = true,
      .transformer = {.num_blocks = 2, .num_hiddens = 32, .ffn_num_hiddens = 64, .num_heads = 2}};
  EncoderClassifier model(options, random);
  AdamW optimizer(model, {.lr = 2e-3});
  Tape tape({.training = true});
  for (int epoch = 1; epoch <= 10; ++epoch) {
    double sum = 0.0;
    for (Index i = 0; i < batches.num_batches(); ++i) {
      const auto [inputs, targets] = batches.batch(epoch, i);
      const Var loss = cross_entropy(model(tape, inputs), targets);
      sum += loss.item();
      tape.backward(loss);
      optimizer.step();
    }
    std::cout << "epoch " << epoch << "  loss " << sum / double(batches.num_batches()) << '\n';
  }
  save_checkpoint("first_steps.h5", model);

  // Usually in a different program.
  EncoderClassifier loaded(options, random);
  load_checkpoint("first_steps.h5", loaded);
  Tape inference = Tape<>::inference();
  const Tokens questions({2, 8}, {3, 1, 4, 1, 5, 9, 2, 6, 3, 1, 4, 1, 5, 9, 2, 3});
  std::cout << softmax(loaded(inference, questions)) << '\n';
}
