// Training of a model on one task.
#pragma once

#include <iosfwd>

#include <weft/autograd/precision.hpp>
#include <weft/train/interrupt.hpp>
#include <weft/train/parallel/process_group.hpp>
#include "examples/toy_tasks/solver.hpp"

namespace weft::toy_tasks {

struct TrainingOptions {
  // The maximum number of steps and of seconds.
  std::int64_t steps = 1;
  double seconds = 180.0;
  std::uint64_t seed = 1;
  // Training stops early at this accuracy on the validation examples, in percent.
  double target_accuracy = 99.9;
  // If not null, training ends after the step during which a signal arrives.
  const SignalHandler* interrupt = nullptr;
  // The stream that progress is printed to; null disables.
  std::ostream* output = nullptr;
  Precision precision = Precision::full;
  // The processes that train together; null for this process alone.
  ProcessGroup* processes = nullptr;
};

struct TrainingHistory {
  std::int64_t steps = 0;
  double seconds = 0.0;
  bool interrupted = false;
  int exit_status = 0;  // the exit status after an interrupt (see SignalHandler::exit_status)
  // The seconds since the start and the accuracy in percent at each validation.
  std::vector<double> validation_seconds, validation_accuracies;
};

// Trains the model with AdamW and a warmup-cosine schedule, on new examples in each step. Throws
// ValueError for options that are out of range.
TrainingHistory train(Solver& solver, const TrainingOptions& options);

}  // namespace weft::toy_tasks
