// Forecasts a real-valued series: a GRU predicts each next value from the values before it.
#include <cmath>
#include <iostream>
#include <numbers>

#include <weft/weft.hpp>

using namespace weft;

// Returns the sum of two sine waves and noise, [steps, 1].
Tensor<float> make_series(Index steps, double noise, Random& random) {
  Tensor<float> series({steps, 1});
  for (Index i = 0; i < steps; ++i) {
    const double angle = 2.0 * std::numbers::pi * static_cast<double>(i);
    series(i, 0) = static_cast<float>(std::sin(angle / 25.0) + 0.5 * std::sin(angle / 11.0) +
                                      noise * random.normal());
  }
  return series;
}

struct Forecaster : Module<float> {
  explicit Forecaster(Random& random)
      : gru({.input_size = 1, .num_hiddens = 32}, random), output({32, 1}, random) {}

  // Predicts the next value after each value of x [batch, time, 1], in the same shape.
  Var<float> operator()(const Var<float>& x) const { return output(gru(x).states); }

  void members(Members<float>& members) const override {
    members("gru", gru);
    members("output", output);
  }

  GRU<float> gru;
  Linear<float> output;
};

int main() {
  constexpr double noise = 0.1;
  Random random(1);
  const Tensor<float> series = make_series(1300, noise, random);
  WindowBatches<float> windows(rows_of(series, 0, 1000), {.length = 40, .stride = 1});
  WindowBatches<float> held_out(rows_of(series, 1000, 1300), {.length = 40});

  Forecaster model(random);
  AdamW optimizer(model, {.lr = 5e-3});
  const auto loss = [&](Tape<float>& tape, const TensorBatch<float>& batch) {
    return mse_loss(model(tape.constant(batch.inputs)), tape.constant(batch.targets));
  };
  Trainer trainer(model, optimizer, windows, loss,
                  {.epochs = 15, .clip_norm = 1.0, .output = &std::cout});
  trainer.validate_on(held_out);
  trainer.run();

  const auto repeat = [](Tape<float>& tape, const TensorBatch<float>& batch) {
    return mse_loss(tape.constant(batch.inputs), tape.constant(batch.targets));
  };
  std::cout << "test MSE " << mean_loss(held_out, loss) << ", repeating the last value "
            << mean_loss(held_out, repeat) << ", noise " << noise * noise << '\n';
}
