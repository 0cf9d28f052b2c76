// Classifies handwritten digits: a transformer reads the rows of each image.
//   digits DIGITS.csv    64 pixels from 0 to 16 and the digit in each line, as in UCI's optdigits
#include <iostream>

#include <weft/weft.hpp>

using namespace weft;

int main(int argc, char** argv) try {
  const Tensor<float> rows =
      read_csv(argc > 1 ? argv[1] : "digits.csv", {.header = false}).numbers();
  Tensor<float> images({rows.shape()[0], 8, 8});
  Tokens labels({rows.shape()[0]});
  for (Index i = 0; i < labels.size(); ++i) {
    for (Index j = 0; j < 64; ++j) images(i, j / 8, j % 8) = rows(i, j) / 16;
    labels(i) = static_cast<TokenId>(rows(i, 64));
  }
  const Index split = labels.size() * 4 / 5;
  TensorBatches<float, TokenId> training(rows_of(images, 0, split), rows_of(labels, 0, split));
  TensorBatches<float, TokenId> held_out(rows_of(images, split, labels.size()),
                                         rows_of(labels, split, labels.size()));

  Random random(1);
  // Maps images [batch, 8, 8] to logits [batch, 10].
  Sequential model{
      Linear({8, 64}, random), LearnedPositionalEncoding({.num_hiddens = 64, .max_len = 8}, random),
      TransformerEncoder(
          {.num_blocks = 2, .num_hiddens = 64, .ffn_num_hiddens = 128, .num_heads = 4}, random),
      SequencePooling(Pooling::mean), Linear({64, 10}, random)};
  AdamW optimizer(model, {.lr = 2e-3});
  using Batch = TensorBatch<float, TokenId>;
  const auto logits = [&](Tape<float>& tape, const Batch& batch) {
    return model(tape.constant(batch.inputs));
  };
  Trainer trainer(model, optimizer, training,
                  [&](Tape<float>& tape, const Batch& batch) {
                    return cross_entropy(logits(tape, batch), batch.targets);
                  },
                  {.epochs = 15, .output = &std::cout});
  trainer.validate_on(held_out, {}, {{"accuracy", [&](Tape<float>& tape, const Batch& batch) {
                                        return accuracy(logits(tape, batch), batch.targets);
                                      }}});
  trainer.run();
} catch (const Error& error) {
  std::cerr << "digits: " << error.what() << '\n';
  return 1;
}
