// Trainer: the training loop, with validation, checkpoints, resuming and a progress line.
#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "weft/autograd/error.hpp"
#include "weft/autograd/export.hpp"
#include "weft/autograd/tape.hpp"
#include "weft/train/batch_losses.hpp"
#include "weft/train/data/data_source.hpp"
#include "weft/train/evaluation.hpp"
#include "weft/train/interrupt.hpp"
#include "weft/train/moving_average.hpp"
#include "weft/train/optim/optimizer.hpp"
#include "weft/train/optim/schedule.hpp"
#include "weft/train/parallel/process_group.hpp"
#include "weft/train/report/progress_line.hpp"
#include "weft/train/report/report_section.hpp"
#include "weft/train/training_observer.hpp"
#include "weft/train/training_progress.hpp"
#include "weft/train/weights/checkpoint.hpp"

namespace weft {

// Evaluates the model on held-out data. See TrainingLoop::validate_with.
struct Validation {
  // The names of the values, which become columns of metrics.csv. The trainer adds the column
  // "training_loss": the loss on a few batches of the training data, without dropout.
  std::vector<std::string> columns;
  // Returns one value per column. The first value, lower is better, selects the best model. Called
  // in every process; the values of the root process count.
  std::function<std::vector<double>()> run;
  // Steps between validations; 0: validate at the end of every epoch. The last step of a run is
  // always validated.
  std::int64_t every_steps = 0;
  // Training stops after this many scheduled validations in a row without improvement; 0 disables.
  std::int64_t patience = 0;
  // Whether the model has the weights of the best validation when training has finished or stopped
  // early (Keras's restore_best_weights): the averaged weights if an average is tracked. last.h5
  // contains the weights of the last step. An interrupted run restores nothing. A second call of
  // TrainingLoop::run without `resume` continues with the restored weights.
  bool restore_best_weights = false;
};

// Options of a Trainer.
struct TrainerOptions {
  std::int64_t epochs = 1;  // passes over the data source
  // The maximum number of updates; 0: no limit.
  std::int64_t max_steps = 0;
  // Batches per update. Their gradients are accumulated, as if they were one large batch.
  Index gradient_accumulation_steps = 1;
  // The maximum number of parts, up to 4096, that each batch is split into by its `part_of`. Parts
  // run in parallel, so the loss function is called from several threads at once, and their
  // gradients are added in order; threads without a part help with the operations of others. With
  // 1, only operations are parallelized, which is faster for large models; it is required for
  // models with running averages, such as BatchNorm's, and for losses that compare the examples of
  // a batch with each other. 0 chooses by the sizes of the batch and the model: at most 4 parts,
  // each with positions · parameters ≥ 2²³ (see positions_of), and fewer if one copy of all
  // parameters for each part takes more than 96 MiB; 1 for batches that cannot be split and for
  // models with running averages. The number of parts affects rounding and dropout masks; that of
  // threads does not.
  Index parts = 0;
  // The maximum norm of all gradients together; gradients with a larger norm are scaled down to it.
  double clip_norm = std::numeric_limits<double>::infinity();
  // Determines the learning rate. If not set, the optimizer's learning rate is used.
  std::optional<Schedule> schedule = {};
  // Lowers the learning rate when validations stop improving; requires a validation. Its factors
  // multiply the schedule's learning rates.
  std::optional<Plateau> plateau = {};
  // The number of consecutive steps that may be skipped because their loss or a gradient is not
  // finite (like optax's apply_if_finite). Such a step counts as a step but changes neither the
  // model nor the optimizer. One more step ends training with NonFiniteError.
  std::int64_t max_consecutive_skips = 0;
  // The seed for dropout.
  std::uint64_t seed = 0;
  // If set, called after every step and its validation; training stops early if it returns true.
  std::function<bool()> should_stop = {};

  // The directory for the checkpoints best.h5 and last.h5, for metrics.csv, and for the report
  // (report.html and run.json), which is updated during training in at most 0.5 % of the time. If
  // empty, nothing is saved.
  std::filesystem::path folder = {};
  // If true, training resumes from last.h5 in `folder`, or starts anew if there is no checkpoint.
  // The options, the optimizer's settings including its `lr`, the validation and the average given
  // now apply; each difference from the earlier settings is written to `output` and to the report.
  // If false, `folder` must not contain last.h5 or best.h5.
  bool resume = false;
  // Saves last.h5 every so many steps, in addition to the end of every epoch and of the run; 0
  // disables.
  std::int64_t save_every_steps = 0;
  // Saves last.h5 when this many seconds have passed since it was last saved; 0 disables.
  double save_every_seconds = 0.0;
  // Steps per row of metrics.csv.
  std::int64_t log_every_steps = 10;

  // Names and values that the report shows besides the configuration, such as the origin of the
  // data or settings that a program needs in order to resume (see recorded_notes).
  std::vector<std::pair<std::string, std::string>> notes = {};
  // Values that the report shows instead of the configuration's stored ones, for settings that the
  // program adjusted: the vocabulary size found in the data, a warmup shortened for a short run.
  std::vector<std::pair<std::string, std::string>> settings_in_use = {};
  // Whether to write TensorBoard event files to `folder`: scalars, histograms, examples.
  bool tensorboard = false;
  // Whether metrics.csv and the report contain `update_ratio` and `noise_scale`: by how much steps
  // change weights, and the gradient noise scale, which tells useful batch sizes. Both are measured
  // in a single process only, and the noise only with several `parts`.
  bool update_statistics = false;

  // The stream that progress is shown on; null disables. By default, std::cerr if it is a terminal.
  std::ostream* output = terminal_output();
  // If not null, training ends after the step during which a signal arrives.
  const SignalHandler* interrupt = nullptr;

  // Whether training continues while a checkpoint is written. The file is the same: a step taken
  // meanwhile copies the parameters and the optimizer's state before it changes them.
  bool save_in_background = false;
  // The number of copies of last.h5 to keep as step-N.h5; 0 keeps none. The most recently written
  // ones are kept, even if an older one has a higher N because training went back to an earlier
  // step. Only checkpoints that this run kept, listed in checkpoints.txt, are removed. A file of
  // the same name from an earlier run is renamed to step-N.h5.old1.
  std::int64_t keep_checkpoints = 0;
  // The precision of the inputs of matrix products during training; see TapeOptions. Validations
  // use full precision.
  Precision precision = Precision::full;

  // Whether to measure the steps (see Profile). Tables are written to `output` and to the report,
  // and the first steps to trace.json in `folder`. Only the root process is measured.
  bool profile = false;

  // The processes that train together; null for this process alone. There must be at least as many
  // `parts` as processes; each process computes some of them. Every process must call the same
  // functions of its trainer with the same model, data and options, which is checked before the
  // first step. The result is bitwise identical for any number of processes. The root process reads
  // and writes `folder` and writes to `output`. An interrupt or `should_stop` in one process ends
  // training in all of them.
  ProcessGroup* processes = nullptr;
};

// The part of Trainer that does not depend on the batch type.
template <class T>
class WEFT_API TrainingLoop {
 public:
  // Sets how the model is validated. Without a validation, no best.h5 is saved. Call before `run`.
  // Throws ValueError for negative counts, no columns, or an empty function.
  void validate_with(Validation validation);

  // Adds an object to the checkpoints, such as the program's configuration. Call before `run`.
  // Throws ValueError for a name that is already used (the trainer uses "model", "model_options",
  // "optimizer" and "progress") or that is not valid in a checkpoint.
  void register_for_checkpointing(const std::string& name, Stateful<T>& object) {
    register_for_checkpointing(NamedState<T>(name, object));
  }
  // Adds a copy of a tokenizer to the checkpoints. With the name "tokenizer", load_gpt and
  // load_tokenizer find it there. A training that resumes must have the same tokens. Call before
  // `run`. Throws the same exceptions as the function above.
  //   trainer.register_for_checkpointing("tokenizer", Vocabulary::of_characters("hello"));
  void register_for_checkpointing(const std::string& name, const Tokenizer& tokenizer) {
    register_for_checkpointing(NamedState<T>(name, tokenizer));
  }

  // Sets a function that adds examples to the report in `folder`: generated text, tables, attention
  // maps (see ReportSection). It is called in the root process after each validation. Call before
  // `run`. Throws ValueError for an empty function.
  void show_examples(std::function<void(ReportSection& section)> examples);

  // Adds an observer, which must outlive the trainer. Observers are called in the order in which
  // they were added, `end` and `fail` in reverse order.
  void observe(TrainingObserver& observer);

  // Adds a function that is called after each update, like TrainingObserver::after_step. Throws
  // ValueError for an empty function.
  //   trainer.after_step([](const StepReport& report) { std::cout << report.loss << '\n'; });
  void after_step(std::function<void(const StepReport&)> function);

  // Updates `average` after each step and adds it to the checkpoints, as "average". Validations use
  // the averaged parameters, and load_checkpoint(…/best.h5, model) and load_weights read them.
  // If training resumes from a checkpoint without an average, the next step starts it. Throws
  // ValueError if the name "average" is already used.
  void track_average(ExponentialMovingAverage<T>& average) {
    NamedState<T> state("average", average);
    state.is_optional = true;
    register_for_checkpointing(state);
    average_ = &average;
  }

  // Trains until the end and saves the final state in last.h5.
  //
  // Before the first step, throws ValueError if all parameters are frozen (see `freeze`), if the
  // optimizer lacks a parameter of the model that is not frozen, or if it has a parameter of
  // another model. The optimizer may have frozen parameters; they keep their values.
  //
  // If `folder` cannot be used, all its files remain unchanged and it throws
  //   - FileError if `folder` cannot be written or is used by another trainer;
  //   - FileError if `folder` contains a checkpoint and `resume` is false, or contains best.h5
  //     without last.h5 and `resume` is true;
  //   - FileError if the checkpoint or metrics.csv cannot be read;
  //   - ValueError if the checkpoint was trained with different data or a different seed.
  //
  // During training, throws NonFiniteError, which names the step and the operation, if a loss or a
  // gradient is not finite and may not be skipped (see TrainerOptions::max_consecutive_skips); the
  // parameters keep the values of the previous step, and nothing is saved. Throws ValueError or
  // ShapeError for inconsistent batches. Throws FileError if saving fails; the previous checkpoint
  // remains unchanged.
  //
  // With several processes, throws ValueError if they differ in anything that must be the same. If
  // one process throws, the others throw an Error that names that process.
  TrainingResult run();

  // Returns the progress: the step, the epoch and the best validation.
  const TrainingProgress<T>& progress() const { return progress_; }

 protected:
  // Throws ValueError for options outside their ranges.
  TrainingLoop(Module<T>& model, Optimizer<T>& optimizer, BatchLosses<T> losses,
               TrainerOptions options);

  Module<T>& model_;        // the trained model
  TrainerOptions options_;  // as passed to the constructor

 private:
  class Run;
  void register_for_checkpointing(const NamedState<T>& state);

  Optimizer<T>& optimizer_;
  BatchLosses<T> losses_;
  std::optional<Validation> validation_;
  TrainingProgress<T> progress_;
  NamedStates<T> also_saved_;
  ExponentialMovingAverage<T>* average_ = nullptr;
  std::function<void(ReportSection&)> examples_;
  std::vector<std::shared_ptr<TrainingObserver>> observers_;  // the user's
  std::function<void()> restore_best_weights_;  // empty before the first best validation
};

// When to validate on a data source; see Validation.
struct ValidationOptions {
  std::int64_t every_steps = 0;       // see Validation
  std::int64_t patience = 0;          // see Validation
  bool restore_best_weights = false;  // see Validation
};

// A named metric.
template <class T, class B>
struct Metric {
  std::string name;               // name of its column in metrics.csv
  MetricFunction<T, B> function;  // computes the metric of a batch
};

// Trains a model on batches of any type:
//
//   WindowBatches<TokenId> windows(text, {.length = 64});
//   Trainer trainer(gpt, optimizer, windows, [&](Tape<float>& tape, const auto& batch) {
//     return cross_entropy(gpt(tape, batch.inputs), batch.targets);
//   }, {.epochs = 5});
//   trainer.validate_on(held_out);
//   trainer.run();
//
// The loss function returns the mean over the labels of a batch or of a part of a batch. The
// trainer weights these means by their numbers of labels (see WeightedLoss). An update without any
// labels changes no parameters. All arguments passed by reference must outlive the trainer.
template <class T, class B>
class Trainer : public TrainingLoop<T> {
 public:
  // Throws ValueError for options outside their ranges, for an empty loss function, and for
  // `parts` > 1 if batches of this type cannot be split.
  Trainer(Module<T>& model, Optimizer<T>& optimizer, DataSource<B>& source,
          std::type_identity_t<LossFunction<T, B>> loss, TrainerOptions options = {})
      : TrainingLoop<T>(model, optimizer, batch_losses<T, B>(source, loss),
                        with_parts(std::move(options))),
        loss_(std::move(loss)) {
    if (!loss_) fail<ValueError>("trainer: loss", "a function", "none");
  }

  // Validates on `source`, which must outlive the trainer: with the trainer's loss (column
  // "validation_loss") and with `metrics`, each averaged over all labels. Throws ValueError for
  // negative options and for a metric without a function.
  void validate_on(DataSource<B>& source, const ValidationOptions& options = {},
                   std::vector<std::type_identity_t<Metric<T, B>>> metrics = {}) {
    std::vector<std::string> columns{"validation_loss"};
    for (const Metric<T, B>& metric : metrics) {
      if (!metric.function) fail<ValueError>("metric " + metric.name, "a function", "none");
      columns.push_back(metric.name);
    }
    auto run = [&source, loss = loss_, &model = this->model_, number = this->options_.parts,
                processes = this->options_.processes, metrics = std::move(metrics)] {
      const PartLimits parts = part_limits(number, model);
      std::vector<double> values{mean_loss<T, B>(source, loss, parts, processes)};
      for (const Metric<T, B>& metric : metrics)
        values.push_back(mean_metric<T, B>(source, metric.function, parts, processes));
      return values;
    };
    this->validate_with({std::move(columns), std::move(run), options.every_steps, options.patience,
                         options.restore_best_weights});
  }

 private:
  static TrainerOptions with_parts(TrainerOptions options) {
    check_parts<B>("trainer: parts", options.parts);
    if (!has_parts<B>) options.parts = 1;
    return options;
  }

  LossFunction<T, B> loss_;
};

extern template class TrainingLoop<float>;
extern template class TrainingLoop<double>;

}  // namespace weft
