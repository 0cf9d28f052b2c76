// Learning: training on one task until held-out questions are answered right.
#pragma once

#include <iosfwd>

#include "examples/toy_tasks/solver.hpp"

namespace weft::toy_tasks {

struct LearningOptions {
  // At most so many updates and so much time.
  std::int64_t steps = 1;
  double seconds = 180.0;
  std::uint64_t seed = 1;
  // Training ends early once so many percent of the validation examples are answered right.
  double target_accuracy = 99.9;
  // Progress is shown here; null: nowhere.
  std::ostream* output = nullptr;
};

struct Learning {
  std::int64_t steps = 0;
  double seconds = 0.0;
  // Of each validation: the time since the start, and the percentage answered right.
  std::vector<double> validation_seconds, validation_accuracies;
};

// Trains on new examples in each step, with AdamW and a learning rate that rises and falls. Throws
// ValueError for options outside their ranges.
Learning learn(Solver& solver, const LearningOptions& options);

}  // namespace weft::toy_tasks
