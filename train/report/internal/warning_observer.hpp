// WarningObserver: shows TrainingWarnings while a model is trained.
#pragma once

#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "weft/train/report/progress_line.hpp"
#include "weft/train/training_observer.hpp"
#include "train/report/internal/report_observer.hpp"
#include "train/report/internal/training_warnings.hpp"

namespace weft {

// Writes warnings to `line` and, if it is not null, to `report`. `updates` are the measurements of
// ParameterWatch. All references must outlive the object.
class WarningObserver final : public TrainingObserver {
 public:
  // `has_patience` tells whether training stops by itself if validations do not improve;
  // `measures_training` whether the last value of a validation is the loss on training data.
  WarningObserver(const std::vector<ParameterUpdate>& updates, bool has_patience,
                  bool measures_training, ProgressLine& line, ReportObserver* report)
      : updates_(updates),
        has_patience_(has_patience),
        measures_training_(measures_training),
        line_(line),
        report_(report) {}

  void after_step(const StepReport& report) override {
    if (report.is_skipped) {
      const std::string skipped = str_cat(
          "step ", report.step, " is skipped, because its loss or a gradient is not finite");
      if (std::exchange(has_skipped_, true)) return line_.message(skipped);
      return warn(str_cat(skipped, "; ", non_finite_advice));
    }
    warn(warnings_.after_step(report.loss));
    warn(warnings_.after_waiting(report.seconds, report.data_seconds));
    if (updates_.empty()) return;
    warn(warnings_.without_gradient(updates_));
    warn(warnings_.of_ratio(updates_, report.learning_rate));
  }
  void after_validation(const ValidationReport& report) override {
    const double training = measures_training_ ? report.values.back() : report.values.front();
    warn(warnings_.after_validation(report.step, report.values.front(), training, has_patience_));
  }
  void fail(const std::exception_ptr& error) override {
    try {
      std::rethrow_exception(error);
    } catch (const NonFiniteError& exception) {
      warn(str_cat(exception.what(), "; ", non_finite_advice));
    } catch (...) {
      // ReportObserver shows its message.
    }
  }

 private:
  void warn(const std::optional<std::string>& warning) {
    if (!warning) return;
    line_.message("warning: " + *warning);
    if (report_) report_->add_warning(*warning);
  }

  const std::vector<ParameterUpdate>& updates_;
  bool has_patience_, measures_training_;
  ProgressLine& line_;
  ReportObserver* report_;
  TrainingWarnings warnings_;
  bool has_skipped_ = false;
};

}  // namespace weft
