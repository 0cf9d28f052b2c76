// ProgressObserver: shows the progress of a training run on a ProgressLine.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "weft/train/report/progress_line.hpp"
#include "weft/train/training_observer.hpp"

namespace weft {

class ProgressObserver final : public TrainingObserver {
 public:
  // `line` must outlive the object.
  ProgressObserver(ProgressLine& line, std::int64_t epochs) : line_(line), epochs_(epochs) {}

  void begin(const TrainingStart& start) override {
    first_step_ = start.step;
    label_unit_ = start.label_unit;
  }
  // Call after the step's checkpoint, if any, has been saved, so that a killed run can be resumed
  // from the shown step.
  void show(const StepReport& report) {
    if (report.is_skipped) return;
    const auto done = static_cast<double>(report.step - first_step_);
    smoothed_loss_ = 0.95 * smoothed_loss_.value_or(report.loss) + 0.05 * report.loss;
    const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    const auto left = static_cast<double>(report.total_steps - report.step);
    line_.show({.epoch = report.epoch,
                .epochs = epochs_,
                .step = report.step,
                .total_steps = report.total_steps,
                .loss = *smoothed_loss_,
                .learning_rate = report.learning_rate,
                .grad_norm = report.grad_norm,
                .labels_per_second = report.labels_per_second,
                .label_unit = label_unit_,
                .seconds_left = seconds / done * left});
  }

 private:
  using Clock = std::chrono::steady_clock;

  ProgressLine& line_;
  std::int64_t epochs_;
  Clock::time_point start_ = Clock::now();
  std::int64_t first_step_ = 0;
  std::string label_unit_;
  std::optional<double> smoothed_loss_;
};

}  // namespace weft
