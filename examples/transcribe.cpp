// Transcribes sequences of noisy feature vectors with CTC, without knowing where each symbol is.
#include <algorithm>
#include <iostream>

#include <weft/weft.hpp>

using namespace weft;

constexpr Index features = 12, symbols = 10;  // symbol 0 is CTC's blank

// Returns sequences of 2 to 6 symbols, each spoken for 2 to 5 time steps.
std::vector<LabelledFeatures> record(Index count, const Tensor<float>& sounds, Random& random) {
  std::vector<LabelledFeatures> result;
  for (Index i = 0; i < count; ++i) {
    TokenIds labels;
    std::vector<float> values;
    for (Index left = 2 + random.below(5); left > 0; --left) {
      labels.push_back(static_cast<TokenId>(1 + random.below(symbols - 1)));
      for (Index steps = 2 + random.below(4); steps > 0; --steps)
        for (Index j = 0; j < features; ++j)
          values.push_back(sounds(labels.back(), j) + 0.5f * static_cast<float>(random.normal()));
    }
    result.push_back({Tensor<float>({std::ssize(values) / features, features}, values), labels});
  }
  return result;
}

struct Transcriber : Module<float> {
  explicit Transcriber(Random& random)
      : gru({.input_size = features, .num_hiddens = 48, .bidirectional = true}, random),
        output({96, symbols}, random) {}

  // Maps the features of a batch to the log-probabilities of the symbols, [batch, time, symbols].
  Var<float> operator()(Tape<float>& tape, const FeatureBatch& batch) const {
    return log_softmax(output(gru(tape.constant(batch.features), batch.valid_lens).states));
  }

  void members(Members<float>& members) const override {
    members("gru", gru);
    members("output", output);
  }

  GRU<float> gru;
  Linear<float> output;
};

// Returns the transcript of an example: the most probable symbol of each step, best [batch, time],
// without repetitions and blanks.
TokenIds transcript(const Indices& best, Index example, Index steps) {
  TokenIds result(&best(example, 0), &best(example, 0) + steps);
  result.erase(std::unique(result.begin(), result.end()), result.end());
  std::erase(result, 0);
  return result;
}

int main() {
  Random random(1);
  const Tensor<float> sounds = random.normal_tensor<float>({symbols, features});
  const std::vector<LabelledFeatures> examples = record(200, sounds, random);
  FeatureBatches training(record(2000, sounds, random)), held_out(examples);
  Transcriber model(random);
  AdamW optimizer(model, {.lr = 5e-3});
  const auto loss = [&](Tape<float>& tape, const FeatureBatch& batch) {
    return ctc_loss(model(tape, batch), batch.labels, batch.valid_lens, batch.label_lens);
  };
  Trainer trainer(model, optimizer, training, loss,
                  {.epochs = 5, .clip_norm = 1.0, .output = &std::cout});
  trainer.validate_on(held_out);
  trainer.run();

  Index correct = 0;
  for (Index i = 0; i < held_out.num_batches(); ++i) {
    const FeatureBatch batch = held_out.batch(0, i);
    Tape tape = Tape<>::inference();
    const Indices best = argmax(model(tape, batch), -1);
    for (Index row = 0; row < num_examples(batch); ++row) {
      const LabelledFeatures& example = examples[std::size_t(batch.examples[std::size_t(row)])];
      correct += transcript(best, row, example.features.shape()[0]) == example.labels;
    }
  }
  std::cout << correct << " of 200 transcripts are correct\n";
}
