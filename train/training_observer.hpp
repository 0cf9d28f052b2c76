// TrainingObserver: follows a training run.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/autograd/shape.hpp"

namespace weft {

// Information passed to observers before the first step of a run.
struct TrainingStart {
  std::int64_t step = 0;                  // updates already done; > 0 if the run resumes
  std::int64_t best_step = 0;             // step of the best validation so far; 0 if none
  double best_value = 0.0;                // first value of that validation
  std::int64_t skipped_steps = 0;         // steps skipped so far; see StepReport::is_skipped
  std::vector<std::string> columns = {};  // names of the validation values
  std::string label_unit = "tokens";      // name of the labels; see `label_unit`
  std::vector<std::string> changes = {};  // settings that changed since the earlier run
};

// Information passed to observers after each update.
struct StepReport {
  std::int64_t step = 0;      // updates done, including this one
  std::int64_t epoch = 1;     // epoch of the update, from 1
  bool ends_epoch = false;    // whether this is the last update of the epoch
  bool is_validated = false;  // whether a validation of this step follows
  // Whether the step changed nothing because its loss or a gradient was not finite; see
  // TrainerOptions::max_consecutive_skips. Its `loss` and `grad_norm` may not be finite.
  bool is_skipped = false;
  std::int64_t total_steps = 0;    // planned updates, including those before resuming
  double loss = 0.0;               // mean loss over the labels of the update
  Index labels = 0;                // number of labels; see `num_labels`
  double learning_rate = 0.0;      // learning rate of the update
  double grad_norm = 0.0;          // norm of all gradients before clipping
  double seconds = 0.0;            // duration of the update, including loading its batches
  double data_seconds = 0.0;       // duration of loading the batches
  double labels_per_second = 0.0;  // mean over all updates since the run began or resumed
};

// Information passed to observers after each validation.
struct ValidationReport {
  std::int64_t step = 0;            // updates done
  std::int64_t epoch = 1;           // epoch of the last update, from 1
  std::vector<double> values = {};  // one for each of TrainingStart::columns
  bool is_best = false;             // whether the first value is the lowest so far
  std::int64_t best_step = 0;       // step of the best validation so far
  double best_value = 0.0;          // first value of the best validation so far
};

// The reason why a training run ended.
enum class StopReason { finished, stopped_early, interrupted };

// The result of TrainingLoop::run.
struct TrainingResult {
  StopReason end = StopReason::finished;  // why the run ended
  std::int64_t steps = 0;                 // updates done, including those before resuming
  std::int64_t best_step = 0;             // step of the best validation; 0 if there was none
  double best_value = 0.0;                // first value of the best validation
  std::int64_t skipped_steps = 0;         // steps that changed nothing; see StepReport::is_skipped
  // Exit status of the process that was interrupted (see SignalHandler); otherwise 0.
  int exit_status = 0;
};

// Base class for objects that follow a training run. Override the functions of interest; the
// defaults do nothing. The trainer calls them on the thread that called TrainingLoop::run and, if
// several processes train, only in the root process. An exception thrown by an observer ends the
// run like any other error. To add an observer to a trainer, call TrainingLoop::observe.
//   struct Printer : TrainingObserver {
//     void after_step(const StepReport& report) override { std::cout << report.loss << '\n'; }
//   };
class WEFT_API TrainingObserver {
 public:
  virtual ~TrainingObserver() = default;

  // Called before the first step, after the checkpoint to resume from has been loaded.
  virtual void begin(const TrainingStart&) {}
  // Called after each update, before its validation and before checkpoints are saved.
  virtual void after_step(const StepReport&) {}
  // Called after each validation. If the trainer tracks an average of the parameters, the model
  // contains the averaged values during this call.
  virtual void after_validation(const ValidationReport&) {}
  // Called when the run has ended and its last checkpoint has been saved.
  virtual void end(const TrainingResult&) {}
  // Called instead of `end` if the run ends with an exception, which is rethrown afterwards.
  // Exceptions thrown by this function are ignored.
  virtual void fail(const std::exception_ptr&) {}
};

}  // namespace weft
