#include <filesystem>
#include <iostream>

#include <weft/autograd/error.hpp>
#include <weft/autograd/ops/arithmetic.hpp>
#include <weft/layers/summary.hpp>
#include <weft/train/data/csv.hpp>
#include <weft/train/data/tensor_batch.hpp>
#include <weft/train/interrupt.hpp>
#include <weft/train/optim/adam.hpp>
#include <weft/train/trainer.hpp>
#include "examples/common/training_options.hpp"
#include "examples/common/training_report.hpp"
#include "examples/keras/arrays.hpp"
#include "examples/keras/commands.hpp"
#include "examples/keras/losses.hpp"
#include "examples/keras/model_argument.hpp"

namespace weft::keras {
namespace {

namespace fs = std::filesystem;

struct Options {
  ModelArgument model;
  std::string loss;
  std::int64_t targets = 1, epochs = 10, batch = 32;
  double lr = 1e-3, validation = 0.1;
  examples::TrainingOptions training = {.out = "build/keras"};
};

// The examples of a CSV file: all columns but the last ones are the input.
struct Examples {
  Tensor<float> inputs, targets;
};

Examples read_examples(const Options& options, const fs::path& path, const KerasInput& input) {
  const Table table = read_csv(path);
  const std::vector<std::string>& names = table.names();
  const auto targets = static_cast<std::ptrdiff_t>(options.targets);
  if (std::ssize(names) <= targets)
    fail<FileError>("'" + path.string() + "'",
                    str_cat("columns of the input and ", targets, " columns of targets"),
                    str_cat(names.size(), " columns"));
  return {shaped_for(input, table.numbers({names.begin(), names.end() - targets})),
          table.numbers({names.end() - targets, names.end()})};
}

}  // namespace

int finetune(ProcessGroup& processes, int argc, char** argv) {
  Options options;
  std::vector<std::string> files;
  examples::CommandLine line(
      "keras finetune",
      "Trains a Keras model further with AdamW, on a CSV file whose last columns are the targets. "
      "Saves the model in the form of MODEL, for Keras.");
  line.option("loss", "loss by its name in Keras; by default, the one that MODEL was trained with",
              options.loss);
  line.option("targets", "number of columns of targets", options.targets, 1, 65536);
  line.option("epochs", "number of epochs", options.epochs, 1, 1'000'000);
  line.option("batch", "number of examples per batch", options.batch, 1, 1 << 20);
  line.option("lr", "learning rate", options.lr, 1e-9, 10);
  line.option("validation", "fraction of the examples, at the end, for validation",
              options.validation, 0, 0.9);
  options.training.add_to(line, "the model, checkpoints, metrics and a report");
  if (!options.model.parse(line, argc, argv, "DATA.csv", &files)) return 0;
  options.training.note(line, processes);

  const fs::path out = options.training.out;
  KerasModel<float> model = options.model.load();
  std::vector<fs::path> inputs_of_run = options.model.files();
  inputs_of_run.emplace_back(files.front());
  if (processes.is_root()) examples::check_outputs(out, inputs_of_run);
  const std::string name = options.loss.empty() ? model.training_loss() : options.loss;
  const KerasLoss loss_of = loss_named(name);
  const std::vector<KerasInput> inputs = model.inputs();
  if (inputs.size() != 1) fail<ValueError>("model", "one input", str_cat(inputs.size(), " inputs"));
  const Examples all = read_examples(options, files.front(), inputs.front());
  const Index rows = all.inputs.shape()[0];
  const Index held_out = static_cast<Index>(options.validation * static_cast<double>(rows));
  const auto batches = [&](Index first, Index last) {
    return TensorBatches<float>(rows_of(all.inputs, first, last), rows_of(all.targets, first, last),
                                {.batch_size = options.batch});
  };
  TensorBatches<float> train = batches(0, rows - held_out);
  std::cout << rows - held_out << " training examples, " << held_out << " validation examples\n"
            << "model with " << count_parameters(model) << " parameters, loss " << name << '\n';

  AdamW<float> optimizer(model, {.lr = options.lr, .weight_decay = 0});
  const SignalHandler interrupt;
  TrainerOptions trainer_options = options.training.for_trainer(interrupt, processes);
  trainer_options.epochs = options.epochs;
  const auto loss = [&](Tape<float>& tape, const TensorBatch<float>& batch) {
    const KerasResult<float> result = model.run({tape.constant(batch.inputs)});
    if (result.outputs.size() != 1)
      fail<ValueError>("model", "one output", str_cat(result.outputs.size(), " outputs"));
    const Var<float> y = loss_of(result.outputs.front(), batch.targets);
    return result.penalty ? y + *result.penalty : y;
  };
  Trainer<float, TensorBatch<float>> trainer(model, optimizer, train, loss, trainer_options);
  std::optional<TensorBatches<float>> validation;
  if (held_out > 0) trainer.validate_on(validation.emplace(batches(rows - held_out, rows)));
  const TrainingResult result = trainer.run();
  if (!processes.is_root()) return result.exit_status;
  const fs::path extension = fs::path(options.model.files().back()).extension();
  const fs::path to = out / ("model" + extension.string());
  save_keras(to, model);
  std::cout << examples::describe(result, out, "keras finetune") << '\n'
            << "saved " << to.string() << '\n';
  return result.exit_status;
}

}  // namespace weft::keras
