// TrainingDisplay: what a training shows while it runs.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <string>

#include "weft/train/progress_line.hpp"
#include "weft/train/trainer.hpp"

namespace weft {

class TrainingDisplay {
 public:
  // Shows nothing unless it is that of the first process.
  TrainingDisplay(const TrainerOptions& options, bool is_first)
      : options_(options), line_(is_first ? options.output : nullptr) {}

  // The training starts, or resumes, after this step.
  void begin(std::int64_t step) { first_step_ = step; }
  // Counts what was computed in `seconds`.
  void count(Index labels, double seconds) {
    labels_ += labels;
    seconds_ += seconds;
  }
  double labels_per_second() const { return static_cast<double>(labels_) / seconds_; }
  // Completes the report of an update, which lacks the numbers of epochs and steps and the time.
  void show(ProgressReport report, Index num_batches) {
    const std::int64_t updates_in_epoch = (num_batches - 1) / options_.accumulation + 1;
    std::int64_t total = std::numeric_limits<std::int64_t>::max();
    if (options_.epochs <= total / updates_in_epoch) total = options_.epochs * updates_in_epoch;
    if (options_.max_steps > 0) total = std::min(total, options_.max_steps);
    const auto done = static_cast<double>(report.step - first_step_);
    smoothed_loss_ = done > 1.0 ? 0.95 * smoothed_loss_ + 0.05 * report.loss : report.loss;
    const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    report.epochs = options_.epochs;
    report.total_steps = total_steps_ = total;
    report.loss = smoothed_loss_;
    report.seconds_left = seconds / done * static_cast<double>(total - report.step);
    line_.show(report);
  }
  // Of the whole training, from the first step on that was shown.
  std::int64_t total_steps() const { return total_steps_; }
  // A permanent line.
  void message(const std::string& text) { line_.message(text); }

 private:
  using Clock = std::chrono::steady_clock;

  const TrainerOptions& options_;
  ProgressLine line_;
  Clock::time_point start_ = Clock::now();
  std::int64_t first_step_ = 0, total_steps_ = 0;
  double smoothed_loss_ = 0.0;
  Index labels_ = 0;
  double seconds_ = 0.0;  // in updates
};

}  // namespace weft
