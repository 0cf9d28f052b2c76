#include "examples/toy_tasks/training.hpp"

#include <algorithm>
#include <chrono>
#include <iomanip>
#include <ostream>

#include <weft/train.hpp>

namespace weft::toy_tasks {
namespace {

constexpr Index batch_size = 64, parts = 4, validation_examples = 500;
constexpr std::int64_t steps_between_validations = 100, warmup_steps = 200;

PairBatches make_batches(const Solver& solver, const TrainingOptions& options) {
  std::vector<SequencePair> pairs;
  for (const Example& example :
       training_examples(solver.task, options.steps * batch_size, options.seed))
    pairs.push_back(solver.encode_pair(example));
  return PairBatches(std::move(pairs),
                     {.batch_size = batch_size, .seed = options.seed, .bucket_batches = 2});
}

}  // namespace

TrainingHistory train(Solver& solver, const TrainingOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [start] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  PairBatches batches = make_batches(solver, options);
  const std::vector<Example> validation = held_out_examples(
      solver.task, examples::Split::validation, validation_examples, options.seed);
  AdamW<float> optimizer(solver.model, {.beta2 = 0.98});
  TrainingHistory history;
  double accuracy = 0.0;  // of the last validation
  const auto validate = [&] {
    accuracy = solver.accuracy(validation);
    const double now = seconds();
    history.validation_seconds.push_back(now);
    history.validation_accuracies.push_back(accuracy);
    if (options.output)
      *options.output << str_cat(std::fixed, std::setprecision(1), "  step ", std::setw(5),
                                 optimizer.steps(), std::setw(8), now, " s", std::setw(7), accuracy,
                                 " % correct")
                      << std::endl;
  };

  Trainer trainer(
      solver.model, optimizer, batches,
      [&](Tape<float>& tape, const PairBatch& batch) {
        return batch_loss(solver.model, tape, batch);
      },
      {.parts = parts,
       .clip_norm = 1.0,
       .schedule =
           warmup_cosine_schedule({.peak = solver.task.learning_rate,
                                   .warmup_steps = std::min(warmup_steps, options.steps / 2),
                                   .total_steps = options.steps}),
       .seed = options.seed,
       .should_stop =
           [&] { return accuracy >= options.target_accuracy || seconds() >= options.seconds; },
       .interrupt = options.interrupt,
       .precision = options.precision,
       .processes = options.processes});
  trainer.validate_with({.columns = {"error_rate_percent"},
                         .run = [&]() -> std::vector<double> {
                           validate();
                           return {100.0 - accuracy};
                         },
                         .every_steps = steps_between_validations});
  const TrainingResult result = trainer.run();
  history.steps = result.steps;
  history.interrupted = result.end == StopReason::interrupted;
  history.exit_status = result.exit_status;
  history.seconds = seconds();
  return history;
}

}  // namespace weft::toy_tasks
