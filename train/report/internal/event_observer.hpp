// EventObserver: writes TensorBoard's event files while a model is trained.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "weft/layers/module.hpp"
#include "weft/train/report/progress_line.hpp"
#include "weft/train/training_observer.hpp"
#include "train/report/internal/event_file.hpp"
#include "train/report/internal/metrics_observer.hpp"
#include "train/report/internal/parameter_watch.hpp"
#include "train/report/internal/report_observer.hpp"

namespace weft {

// Writes the loss, metrics, histograms and examples of a training run. Must be called after
// `metrics` and `report`. If a file cannot be written, prints a message once on `line`; training
// continues. All references must outlive the object.
template <class T>
class EventObserver final : public TrainingObserver {
 public:
  EventObserver(std::filesystem::path folder, const Module<T>& model,
                const ParameterWatch<T>& watch, const MetricsObserver& metrics,
                const ReportObserver& report, ProgressLine& line);

  // Sets the hyperparameters that `begin` writes.
  void describe(Settings settings) { settings_ = std::move(settings); }

  void begin(const TrainingStart& start) override;
  void after_step(const StepReport& report) override;
  void after_validation(const ValidationReport& report) override;

 private:
  void add_row(std::int64_t step);
  // Calls `work` with the file. Handles errors.
  void write(const std::function<void(EventFile&)>& work);

  std::filesystem::path folder_;
  const Module<T>& model_;
  const ParameterWatch<T>& watch_;
  const MetricsObserver& metrics_;
  const ReportObserver& report_;
  ProgressLine& line_;
  Settings settings_;
  std::int64_t first_step_ = 0;
  std::optional<EventFile> file_;
  bool has_failed_ = false;
};

extern template class EventObserver<float>;
extern template class EventObserver<double>;

}  // namespace weft
