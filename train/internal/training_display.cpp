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

void TrainingDisplay::show(std::int64_t epoch, std::int64_t step, const ShownUpdate& update) {
  const std::int64_t updates_in_epoch = (update.num_batches - 1) / options_.accumulation + 1;
  std::int64_t total = std::numeric_limits<std::int64_t>::max();
  if (options_.epochs <= total / updates_in_epoch) total = options_.epochs * updates_in_epoch;
  if (options_.max_steps > 0) total = std::min(total, options_.max_steps);
  const auto done = static_cast<double>(step - first_step_);
  const auto left = static_cast<double>(total - step);
  smoothed_loss_ = done > 1.0 ? 0.95 * smoothed_loss_ + 0.05 * update.loss : update.loss;
  const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  line_.show({epoch, options_.epochs, step, total, smoothed_loss_, update.learning_rate,
              update.grad_norm, tokens_per_second(), seconds / done * left});
}

}  // namespace weft
