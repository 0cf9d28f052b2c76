// train FOLDER EPOCHS: learns the sine function. Resumes if FOLDER has a checkpoint.
#include <cmath>
#include <iostream>

#include <weft/weft.hpp>

using namespace weft;

TensorBatches<float> points(Index count, std::uint64_t seed) {
  Random random(seed);
  const Tensor<float> x = random.uniform_tensor<float>({count, 1}, -3, 3);
  Tensor<float> y = x;
  for (float& value : y.values()) value = std::sin(value);
  return TensorBatches<float>(x, y, {.batch_size = 20, .seed = seed});
}

int main(int argc, char** argv) try {
  ProcessGroup processes;         // this process alone, or the processes of mpirun
  const SignalHandler interrupt;  // Ctrl-C ends training after a step, with a checkpoint
  const std::string folder = argc > 1 ? argv[1] : "trained";
  const int epochs = argc > 2 ? std::stoi(argv[2]) : 10;

  Random random(1);
  Sequential model{Linear({.in_features = 1, .out_features = 32}, random),
                   Activate(Activation::tanh),
                   Linear({.in_features = 32, .out_features = 1}, random)};
  AdamW optimizer(model, {.lr = 1e-2});
  TensorBatches<float> training = points(400, 1), held_out = points(100, 2);
  const auto loss = [&](Tape<float>& tape, const TensorBatch<float>& batch) {
    return mse_loss(model(tape.constant(batch.inputs)), tape.constant(batch.targets));
  };
  // Your own metric: a mean over the labels of a batch, computed without gradients.
  const auto mean_error = [&](Tape<float>& tape, const TensorBatch<float>& batch) {
    const Var error = model(tape.constant(batch.inputs)) - tape.constant(batch.targets);
    return static_cast<double>(mean(abs(error)).item());
  };

  Trainer trainer(
      model, optimizer, training, loss,
      {.epochs = epochs,
       .clip_norm = 1.0,
       .schedule = warmup_cosine_schedule({.peak = 1e-2, .warmup_steps = 20, .total_steps = 200}),
       .folder = folder,
       .resume = true,
       .interrupt = &interrupt,
       .processes = &processes});
  trainer.validate_on(held_out, {.every_steps = 40}, {{"mean_error", mean_error}});
  const TrainingResult result = trainer.run();
  if (processes.is_root())
    std::cout << "step " << result.steps << ", best at step " << result.best_step << ": "
              << result.best_value << '\n';
} catch (const Error& error) {
  std::cerr << "train: " << error.what() << '\n';
  return 1;
}
