// Fine-tuning: saves a forecaster in fine_tune.h5, loads it, and trains only its last layer on a
// short new series.
#include <cmath>
#include <iostream>

#include <weft/weft.hpp>

using namespace weft;

struct Forecaster : Module<float> {
  explicit Forecaster(Random& random)
      : gru({.input_size = 1, .num_hiddens = 32}, random), output({32, 1}, random) {}
  Var<float> operator()(const Var<float>& x) const { return output(gru(x).states); }
  void members(Members<float>& members) const override {
    members("gru", gru);
    members("output", output);
  }
  GRU<float> gru;
  Linear<float> output;
};

// Returns windows of a noisy sine wave with amplitude `height`, [steps, 1].
WindowBatches<float> series(Index steps, double height, std::uint64_t seed) {
  Random random(seed);
  Tensor<float> rows({steps, 1});
  for (Index i = 0; i < steps; ++i)
    rows(i, 0) = static_cast<float>(height * std::sin(0.3 * static_cast<double>(i)) +
                                    0.05 * random.normal());
  return WindowBatches<float>(rows, {.length = 40, .stride = 1, .batch_size = 16});
}

auto loss_of(const Forecaster& model) {
  return [&model](Tape<float>& tape, const TensorBatch<float>& batch) {
    return mse_loss(model(tape.constant(batch.inputs)), tape.constant(batch.targets));
  };
}

void train(Forecaster& model, WindowBatches<float> windows, std::int64_t epochs) {
  AdamW optimizer(model, {.lr = 5e-3});
  Trainer trainer(model, optimizer, windows, loss_of(model), {.epochs = epochs, .clip_norm = 1.0});
  trainer.run();
}

int main() try {
  WindowBatches<float> test = series(400, 2.0, 3);
  Random random(1);
  Forecaster model(random), loaded(random), from_scratch(random);
  train(model, series(1000, 1.0, 1), 5);
  save_weights("fine_tune.h5", model);
  std::cout << load_weights("fine_tune.h5", loaded);
  std::cout << "test MSE before " << mean_loss(test, loss_of(loaded));
  freeze(loaded, "gru");
  train(loaded, series(72, 2.0, 2), 20);
  train(from_scratch, series(72, 2.0, 2), 20);
  std::cout << ", fine-tuned " << mean_loss(test, loss_of(loaded)) << ", trained from scratch "
            << mean_loss(test, loss_of(from_scratch)) << '\n';
} catch (const Error& error) {
  std::cerr << "fine_tune: " << error.what() << '\n';
  return 1;
}
