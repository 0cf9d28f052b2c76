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

#include "weft/autograd/tape.hpp"
#include "weft/train/data/batches.hpp"
#include "weft/train/interrupt.hpp"
#include "weft/train/optim/optimizer.hpp"
#include "weft/train/optim/schedule.hpp"
#include "weft/train/training_progress.hpp"
#include "weft/train/weights/checkpoint.hpp"

namespace weft {

// The loss of a batch, summed over its labels and divided by batch.divisor. A scalar. Called on
// several threads at once when TrainerOptions::parts is more than 1.
template <class T>
using LossFunction = std::function<Var<T>(Tape<T>& tape, const Batch& batch)>;

// How well the model does on data that it is not trained on.
struct Validation {
  // What the values are called: columns of metrics.csv.
  std::vector<std::string> columns;
  // Returns one value a column. The first one decides which model is best: the lower, the better.
  std::function<std::vector<double>()> run;
  // 0: at the end of every epoch.
  std::int64_t every_steps = 0;
  // How many validations in a row may bring nothing better before training stops; 0: any number.
  std::int64_t patience = 0;
};

struct TrainerOptions {
  std::int64_t epochs = 1;
  // Updates after which training ends even if epochs are left; 0: no limit.
  std::int64_t max_steps = 0;
  // Batches an update: their gradients add up to that of one large batch.
  Index accumulation = 1;
  // What each batch is cut into: parts are computed at the same time, each on one thread, and
  // their gradients added in order. With 1, the threads share every operation instead, which is
  // better only for large models. The number changes how sums are rounded; that of threads does
  // not.
  Index parts = 1;
  // Gradients are scaled down to this norm.
  double clip_norm = std::numeric_limits<double>::infinity();
  // The optimizer's own learning rate when not given.
  std::optional<Schedule> schedule = {};
  // For dropout.
  std::uint64_t seed = 0;
  std::optional<Validation> validation = {};
  // When given, asked after every step, and its validation, whether that is enough; training then
  // has stopped early.
  std::function<bool()> should_stop = {};

  // Where best.h5, last.h5 and metrics.csv are kept; nothing is kept when empty.
  std::filesystem::path folder = {};
  // Go on from the folder's last.h5 if there is one. Otherwise a folder that holds a training is
  // refused.
  bool resume = false;
  // last.h5 is written at the end of every epoch and of training, and also after so many steps or
  // seconds; 0: not also.
  std::int64_t save_every_steps = 0;
  double save_every_seconds = 0.0;
  // Steps a row of metrics.csv.
  std::int64_t log_every_steps = 10;

  // Where progress is shown; null: nowhere.
  std::ostream* output = nullptr;
  // When given, training ends after the step in which it is requested.
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

// Trains a model. Everything given must outlive the trainer.
template <class T = float>
class Trainer {
 public:
  // Throws ValueError for options outside their ranges.
  Trainer(Module<T>& model, Optimizer<T>& optimizer, BatchSource& batches,
          std::type_identity_t<LossFunction<T>> loss, TrainerOptions options);

  // Something else for the checkpoints to keep, such as the program's configuration. Before `run`.
  void also_save(const std::string& name, Stateful<T>& object) {
    also_saved_.emplace_back(name, object);
  }

  // Trains to the end, which last.h5 then holds. Before the first step, throws FileError when the
  // folder cannot be written, another trainer works in it, it holds a training that is not to be
  // resumed, or its checkpoint does not load, and ValueError when the checkpoint is of a training
  // with other data or another seed. Throws NonFiniteError, naming the step and the operation, when
  // a loss or a gradient is not finite; no parameter has then changed since the step before, and
  // nothing is saved. Throws FileError when saving fails; the previous checkpoint is still whole.
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
