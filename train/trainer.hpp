// Trainer: the training loop, with validation, checkpoints, resuming and a progress line.
#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/autograd/tape.hpp"
#include "weft/train/data/batches.hpp"
#include "weft/train/interrupt.hpp"
#include "weft/train/optim/optimizer.hpp"
#include "weft/train/optim/schedule.hpp"
#include "weft/train/training_progress.hpp"
#include "weft/train/weights/checkpoint.hpp"

namespace weft {

// Returns the loss of a batch, a scalar: the sum over its labels divided by batch.divisor. Called
// concurrently when TrainerOptions::parts > 1.
template <class T>
using LossFunction = std::function<Var<T>(Tape<T>& tape, const Batch& batch)>;

// Evaluates the model on held-out data.
struct Validation {
  // The names of the values: columns of metrics.csv.
  std::vector<std::string> columns;
  // Returns one value per column. The first one, the lower the better, selects the best model.
  std::function<std::vector<double>()> run;
  // Steps between validations; 0: at the end of every epoch.
  std::int64_t every_steps = 0;
  // The number of consecutive validations without improvement after which training stops; 0
  // disables.
  std::int64_t patience = 0;
};

struct TrainerOptions {
  std::int64_t epochs = 1;
  // The maximum number of updates; 0: no limit.
  std::int64_t max_steps = 0;
  // Batches per update: their gradients are accumulated, as if they were one large batch.
  Index accumulation = 1;
  // The number of parts, at most 4096, that each batch is split into by `part_of`: parts run in
  // parallel, each on one thread, and their gradients are added in order. With 1, each operation is
  // parallelized instead, which is faster only for large models. The number of parts affects
  // rounding; the number of threads does not.
  Index parts = 1;
  // The maximum norm of the gradients; larger ones are scaled down to it.
  double clip_norm = std::numeric_limits<double>::infinity();
  // When not given, the optimizer's learning rate is used.
  std::optional<Schedule> schedule = {};
  // The seed of dropout.
  std::uint64_t seed = 0;
  std::optional<Validation> validation = {};
  // When given, called after every step and its validation; training stops early when it returns
  // true.
  std::function<bool()> should_stop = {};

  // The directory of best.h5, last.h5 and metrics.csv; when empty, nothing is saved.
  std::filesystem::path folder = {};
  // Resumes from last.h5 in `folder`, or starts when `folder` contains no checkpoint. When false,
  // `folder` must not contain checkpoints.
  bool resume = false;
  // last.h5 is written at the end of every epoch and of training, and also after this many steps or
  // seconds; 0 disables.
  std::int64_t save_every_steps = 0;
  double save_every_seconds = 0.0;
  // Steps per row of metrics.csv.
  std::int64_t log_every_steps = 10;

  // Where progress is shown; null disables.
  std::ostream* output = nullptr;
  // When given, training ends after the step in which an interrupt is requested.
  const Interrupt* interrupt = nullptr;
};

enum class TrainingEnd { finished, stopped_early, interrupted };

struct TrainingResult {
  TrainingEnd end = TrainingEnd::finished;
  std::int64_t steps = 0;
  // The best validation: its step (0 when there was none) and first value.
  std::int64_t best_step = 0;
  double best_value = 0.0;
};

// Trains a model. All referenced arguments must outlive the trainer. Parameters of the model that
// the optimizer was not given keep their values.
template <class T = float>
class WEFT_API Trainer {
 public:
  // Throws ValueError for options outside their ranges and for empty functions.
  Trainer(Module<T>& model, Optimizer<T>& optimizer, BatchSource& batches,
          std::type_identity_t<LossFunction<T>> loss, TrainerOptions options);

  // Adds an object to the checkpoints, such as the program's configuration. Call it before `run`.
  // Throws ValueError for a name that is used already, also by the trainer: "model", "optimizer"
  // and "progress", or that is none for a checkpoint.
  void also_save(const std::string& name, Stateful<T>& object);

  // Trains until the end and saves the result in last.h5. Before the first step, throws FileError
  // when `folder` cannot be written, is used by another trainer, contains checkpoints although
  // `resume` is false or best.h5 without last.h5 although it is true, or its checkpoint or metrics
  // cannot be read, and ValueError when the checkpoint was trained with other data or another seed;
  // all files are then unchanged. Throws NonFiniteError, naming the step and the operation, when a
  // loss or a gradient is not finite; parameters are then those of the previous step, and nothing
  // is saved. Throws ValueError or ShapeError for batches that contradict themselves. Throws
  // FileError when saving fails; the previous checkpoint is then unchanged.
  TrainingResult run();

  const TrainingProgress<T>& progress() const { return progress_; }

 private:
  class Run;

  Module<T>& model_;
  Optimizer<T>& optimizer_;
  BatchSource& batches_;
  LossFunction<T> loss_;
  TrainerOptions options_;
  TrainingProgress<T> progress_;
  NamedStates<T> also_saved_;
};

extern template class Trainer<float>;
extern template class Trainer<double>;

}  // namespace weft
