// Fine-tuning: saves a forecaster, loads it, and trains only its last layer on a short new series.
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include <weft/weft.hpp>

using namespace weft;

struct Forecaster : Module<float> {
  explicit Forecaster(Random& random)
      : gru({.input_size = 1, .num_hiddens = 32}, random), output({32, 1}, random) {}
  Var<float> operator()(const Var<float>& x) const { return output(gru(x).states); }
  void members(Members<float>& members) const override {
    members.type("Forecaster");
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

void train(ProcessGroup& processes, Forecaster& model, WindowBatches<float> windows,
           std::int64_t epochs) {
  AdamW optimizer(model, {.lr = 5e-3});
  Trainer(model, optimizer, windows, loss_of(model),
          {.epochs = epochs, .parts = 4, .clip_norm = 1.0, .processes = &processes})
      .run();
}

// A new temporary folder. The destructor removes it.
struct TemporaryFolder {
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "fine_tune-XXXXXX").string();
    if (!mkdtemp(name.data())) throw FileError(name + ": cannot create the folder");
    path = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::filesystem::path path;
};

void run(ProcessGroup& processes) {
  WindowBatches<float> test = series(400, 2.0, 3);
  Random random(1);
  Forecaster model(random), loaded(random), from_nothing(random);
  train(processes, model, series(1000, 1.0, 1), 5);
  const TemporaryFolder folder;  // one per process: processes may run on different machines
  save_weights(folder.path / "forecaster.h5", model);
  const LoadWeightsReport report = load_weights(folder.path / "forecaster.h5", loaded);
  if (processes.is_root())
    std::cout << report << "test MSE before " << mean_loss(test, loss_of(loaded));
  freeze(loaded, "gru");
  train(processes, loaded, series(72, 2.0, 2), 20);
  train(processes, from_nothing, series(72, 2.0, 2), 20);
  if (processes.is_root())
    std::cout << ", fine-tuned " << mean_loss(test, loss_of(loaded)) << ", trained from scratch "
              << mean_loss(test, loss_of(from_nothing)) << '\n';
}

int main() {
  ProcessGroup processes;
  try {
    run(processes);
  } catch (const std::exception& error) {
    return processes.abort(str_cat("fine_tune: ", error.what()));
  }
}
