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
#include "weft/train/report/report_section.hpp"
#include "weft/train/training_observer.hpp"
#include "weft/train/training_progress.hpp"
#include "weft/train/weights/checkpoint.hpp"

namespace weft {

// Evaluates the model on held-out data. See TrainingLoop::validate_with.
struct Validation {
  // The names of the values: columns of metrics.csv, beside which "training_loss" is what the
  // trainer's loss is without dropout on a few batches of the data that are trained on.
  std::vector<std::string> columns;
  // Returns one value per column. The first one, the lower the better, selects the best model.
  // Called in every process; the values of the first count.
  std::function<std::vector<double>()> run;
  // Steps between validations; 0: at the end of every epoch. The last step of a training is always
  // validated.
  std::int64_t every_steps = 0;
  // The number of consecutive validations without improvement after which training stops; 0
  // disables.
  std::int64_t patience = 0;
};

struct TrainerOptions {
  std::int64_t epochs = 1;  // passes over the data source
  // The maximum number of updates; 0: no limit.
  std::int64_t max_steps = 0;
  // Batches per update: their gradients are accumulated, as if they were one large batch.
  Index gradient_accumulation_steps = 1;
  // The number of parts, at most 4096, that each batch is split into by its `part_of`: parts run in
  // parallel, each on one thread, and their gradients are added in order. With 1, each operation is
  // parallelized instead, which is faster only for large models. The number of parts affects
  // rounding and the masks of dropout; the number of threads does not.
  Index parts = 1;
  // The maximum norm of the gradients; larger ones are scaled down to it.
  double clip_norm = std::numeric_limits<double>::infinity();
  // When not given, the optimizer's learning rate is used.
  std::optional<Schedule> schedule = {};
  // When given, requires a validation. Its factors multiply the rates of the schedule, if any.
  std::optional<Plateau> plateau = {};
  // The seed of dropout.
  std::uint64_t seed = 0;
  // When given, called after every step and its validation; training stops early when it returns
  // true.
  std::function<bool()> should_stop = {};

  // The directory of best.h5, last.h5, metrics.csv (see metrics_file.hpp), and report.html with
  // run.json, which are written as the training goes on, at most 0.5 % of the time; when empty,
  // nothing is saved.
  std::filesystem::path folder = {};
  // Resumes from last.h5 in `folder`, or starts if `folder` contains no checkpoint. The options and
  // the optimizer's settings given now count, including its `lr`; each difference from the settings
  // before is written to `output` and to the report. If false, `folder` must not contain last.h5 or
  // best.h5.
  bool resume = false;
  // last.h5 is written at the end of every epoch and of training, and also after this many steps or
  // seconds; 0 disables.
  std::int64_t save_every_steps = 0;
  double save_every_seconds = 0.0;  // 0 disables
  // Steps per row of metrics.csv.
  std::int64_t log_every_steps = 10;

  // What reports say beside the configuration: where data come from, and what a program needs to
  // resume (see recorded_notes).
  std::vector<std::pair<std::string, std::string>> notes = {};
  // Values of the configuration's settings in use, for reports, if they differ from the stored
  // ones: the size of the vocabulary found in the data, a warmup shortened for a short training.
  std::vector<std::pair<std::string, std::string>> settings_in_use = {};
  // Whether TensorBoard's event files are written to `folder`: scalars, histograms, examples.
  bool tensorboard = false;

  // Where progress is shown; null disables.
  std::ostream* output = nullptr;
  // When given, training ends after the step in which an interrupt is requested.
  const SignalHandler* interrupt = nullptr;

  // Whether training goes on while a checkpoint is written, with the same result. A step in between
  // copies what it changes: parameters and the optimizer's state.
  bool save_in_background = false;
  // The number of checkpoints to keep as step-N.h5 besides last.h5: those written last, even if an
  // earlier one has a higher N because training went back. Only checkpoints in checkpoints.txt are
  // removed, which lists what this training kept; an earlier training's file of the same name is
  // renamed to step-N.h5.old1. 0 keeps none.
  std::int64_t keep_checkpoints = 0;
  // Of the inputs of matrix products in training; see TapeOptions. Validations use full precision.
  Precision precision = Precision::full;

  // Whether the steps are measured (see Profile): tables go to `output` and into the report, and
  // the first steps as trace.json into `folder`. With several processes, those of the first.
  bool profile = false;

  // The processes that train together; null for this one alone. Each of them calls the same
  // functions of its trainer with the same model, data and options, which is checked before the
  // first step, and computes some of the `parts`, of which there are as many as processes or more.
  // The result is bitwise identical for any number of processes. The first process reads and writes
  // `folder` and writes to `output`; an interrupt or `should_stop` of one ends the training of all.
  ProcessGroup* processes = nullptr;
};

// The training loop, for batches of any type. See Trainer.
template <class T>
class WEFT_API TrainingLoop {
 public:
  // Sets how the model is evaluated; without a validation, it is not, and there is no best.h5. Call
  // it before `run`. Throws ValueError for counts < 0, no columns and an empty function.
  void validate_with(Validation validation);

  // Adds an object to the checkpoints, such as the program's configuration. Call it before `run`.
  // Throws ValueError for a name that is used already, also by the trainer: "model", "optimizer"
  // and "progress", or that is none for a checkpoint.
  void register_for_checkpointing(const std::string& name, Stateful<T>& object);

  // Calls `examples` in the first process after each validation, for the report in `folder`: texts
  // that the model writes, tables, attention maps (see ReportSection). Call it before `run`.
  void show_examples(std::function<void(ReportSection& section)> examples);

  // Adds an observer, which must outlive the trainer. Observers are called in the order of adding;
  // `end` and `fail` in the reverse order.
  void observe(TrainingObserver& observer);

  // Calls `function` after each update: see TrainingObserver::after_step. Throws ValueError for an
  // empty function.
  //   trainer.after_step([](const StepReport& report) { std::cout << report.loss << '\n'; });
  void after_step(std::function<void(const StepReport&)> function);

  // Updates an average of the model's parameters after each step and adds it to the checkpoints, as
  // "average". Validations run with the average in the model, and load_checkpoint(…/best.h5, model)
  // and load_weights read it.
  void track_average(ExponentialMovingAverage<T>& average);

  // Trains until the end and saves the result in last.h5. Before the first step, throws ValueError
  // when all parameters are frozen (see `freeze`) and, naming a parameter, unless the optimizer has
  // all parameters of the model that are not frozen, and none of another model. Frozen parameters
  // may be among the optimizer's, whether they were frozen before or after it was made: they keep
  // their values. Throws FileError when `folder` cannot be written, is used by another trainer,
  // contains checkpoints although `resume` is false or best.h5 without last.h5 although it is true,
  // or its checkpoint or metrics cannot be read, and ValueError when the checkpoint was trained
  // with other data or another seed; all files are then unchanged. Throws NonFiniteError, naming
  // the step and the operation, when a loss or a gradient is not finite; parameters are then those
  // of the previous step, and nothing is saved. Throws ValueError or ShapeError for batches that
  // contradict themselves. Throws FileError when saving fails; the previous checkpoint is then
  // unchanged. With several processes, throws ValueError when they differ in what must be the same,
  // and in all of them what one throws, whatever and wherever it is (an Error that names the
  // process).
  TrainingResult run();

  const TrainingProgress<T>& progress() const { return progress_; }  // where the training is

 protected:
  // Throws ValueError for options outside their ranges.
  TrainingLoop(Module<T>& model, Optimizer<T>& optimizer, BatchLosses<T> losses,
               TrainerOptions options);

 private:
  class Run;

  Module<T>& model_;
  Optimizer<T>& optimizer_;
  BatchLosses<T> losses_;
  TrainerOptions options_;
  std::optional<Validation> validation_;
  TrainingProgress<T> progress_;
  NamedStates<T> also_saved_;
  ExponentialMovingAverage<T>* average_ = nullptr;
  std::function<void(ReportSection&)> examples_;
  std::vector<std::shared_ptr<TrainingObserver>> observers_;  // the user's
};

// When to validate on a data source; see Validation.
struct ValidationOptions {
  std::int64_t every_steps = 0;  // see Validation
  std::int64_t patience = 0;     // see Validation
};

// A metric under its name.
template <class T, class B>
struct Metric {
  std::string name;               // a column of metrics.csv
  MetricFunction<T, B> function;  // of a batch
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
// The loss is the mean over the labels of the batch, or of the part of a batch, that it is given;
// the trainer weights parts and accumulated batches by the numbers of labels that these means
// divide by (see WeightedLoss). An update without any labels changes no weights. All referenced
// arguments must outlive the trainer.
template <class T, class B>
class Trainer : public TrainingLoop<T> {
 public:
  // Throws ValueError for options outside their ranges, for empty functions, and for parts that
  // batches of this type do not have.
  Trainer(Module<T>& model, Optimizer<T>& optimizer, DataSource<B>& source,
          std::type_identity_t<LossFunction<T, B>> loss, TrainerOptions options)
      : TrainingLoop<T>(model, optimizer, batch_losses<T, B>(source, loss), options),
        loss_(std::move(loss)),
        parts_(options.parts),
        processes_(options.processes) {
    if (!loss_) fail<ValueError>("trainer: loss", "a function", "none");
    check_parts<B>("trainer: parts", parts_);
  }

  // Validates with the trainer's own loss, column "validation_loss", and with metrics, as means
  // over the labels of `source`, which must outlive the trainer. Throws ValueError for an option <
  // 0 and a metric without a function.
  void validate_on(DataSource<B>& source, const ValidationOptions& options = {},
                   std::vector<std::type_identity_t<Metric<T, B>>> metrics = {}) {
    std::vector<std::string> columns{"validation_loss"};
    for (const Metric<T, B>& metric : metrics) {
      if (!metric.function) fail<ValueError>("metric " + metric.name, "a function", "none");
      columns.push_back(metric.name);
    }
    auto run = [&source, loss = loss_, parts = parts_, processes = processes_,
                metrics = std::move(metrics)] {
      std::vector<double> values{mean_loss<T, B>(source, loss, parts, processes)};
      for (const Metric<T, B>& metric : metrics)
        values.push_back(mean_metric<T, B>(source, metric.function, parts, processes));
      return values;
    };
    this->validate_with(
        {std::move(columns), std::move(run), options.every_steps, options.patience});
  }

 private:
  LossFunction<T, B> loss_;
  Index parts_;
  ProcessGroup* processes_;
};

extern template class TrainingLoop<float>;
extern template class TrainingLoop<double>;

}  // namespace weft
