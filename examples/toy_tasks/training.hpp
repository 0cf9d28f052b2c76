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
  // Training ends after the step in which an interrupt is requested.
  const SignalHandler* interrupt = nullptr;
  // Progress is printed to this stream unless it is null.
  std::ostream* output = nullptr;
  Precision precision = Precision::full;
  // Those that train together, if there are several.
  ProcessGroup* processes = nullptr;
};

struct TrainingHistory {
  std::int64_t steps = 0;
  double seconds = 0.0;
  bool interrupted = false;
  int exit_status = 0;  // after an interrupt
  // For each validation the seconds since the start, and the accuracy in percent.
  std::vector<double> validation_seconds, validation_accuracies;
};

// Trains on new examples in each step with AdamW and a warmup-cosine schedule. Throws ValueError
// for options that are out of range.
TrainingHistory train(Solver& solver, const TrainingOptions& options);

}  // namespace weft::toy_tasks
