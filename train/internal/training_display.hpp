// TrainingDisplay: what a training shows while it runs.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "weft/train/progress_line.hpp"
#include "weft/train/trainer.hpp"

namespace weft {

class TrainingDisplay {
 public:
  // Shows nothing unless it is that of the first process.
  TrainingDisplay(const TrainerOptions& options, bool is_first);

  // The training starts, or resumes, after this step.
  void begin(std::int64_t step) { first_step_ = step; }
  // Counts what was computed in `seconds`.
  void count(Index labels, double seconds);
  double tokens_per_second() const { return static_cast<double>(labels_) / seconds_; }
  // Completes the report of an update, which has its epoch, step, loss, learning rate and norm.
  void show(ProgressReport report, Index num_batches);
  // A permanent line.
  void message(const std::string& text) { line_.message(text); }

 private:
  using Clock = std::chrono::steady_clock;

  const TrainerOptions& options_;
  ProgressLine line_;
  Clock::time_point start_ = Clock::now();
  std::int64_t first_step_ = 0;
  double smoothed_loss_ = 0.0;
  Index labels_ = 0;
  double seconds_ = 0.0;  // in updates
};

}  // namespace weft
