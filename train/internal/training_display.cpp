#include "train/internal/training_display.hpp"

#include <algorithm>
#include <limits>

namespace weft {

TrainingDisplay::TrainingDisplay(const TrainerOptions& options, bool is_first)
    : options_(options), line_(is_first ? options.output : nullptr) {}

void TrainingDisplay::count(Index labels, double seconds) {
  labels_ += labels;
  seconds_ += seconds;
}

void TrainingDisplay::show(ProgressReport report, Index num_batches) {
  const std::int64_t updates_in_epoch = (num_batches - 1) / options_.accumulation + 1;
  std::int64_t total = std::numeric_limits<std::int64_t>::max();
  if (options_.epochs <= total / updates_in_epoch) total = options_.epochs * updates_in_epoch;
  if (options_.max_steps > 0) total = std::min(total, options_.max_steps);
  const auto done = static_cast<double>(report.step - first_step_);
  smoothed_loss_ = done > 1.0 ? 0.95 * smoothed_loss_ + 0.05 * report.loss : report.loss;
  const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  report.epochs = options_.epochs;
  report.total_steps = total;
  report.loss = smoothed_loss_;
  report.tokens_per_second = tokens_per_second();
  report.seconds_left = seconds / done * static_cast<double>(total - report.step);
  line_.show(report);
}

}  // namespace weft
