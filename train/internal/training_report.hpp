// TrainingReport: what a training tells of itself beside its metrics: warnings, report and event
// files.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "weft/train/trainer.hpp"
#include "train/internal/training_display.hpp"
#include "train/internal/training_folder.hpp"
#include "train/internal/update.hpp"
#include "train/report/internal/event_file.hpp"
#include "train/report/internal/parameter_watch.hpp"
#include "train/report/internal/run_report.hpp"
#include "train/report/internal/training_warnings.hpp"

namespace weft {

// In the first process; in others it does nothing. What cannot be written is said once, and
// training goes on.
template <class T>
class TrainingReport {
 public:
  TrainingReport(const TrainerOptions& options, const Module<T>& model,
                 const TrainingProgress<T>& progress, TrainingDisplay& display);

  // The folder, if there is one, is open. `changes`: the settings that differ from those before
  // the training resumed.
  void begin(const Settings& training, const BatchLosses<T>& losses, const NamedStates<T>& saved,
             const TrainingFolder<T>& folder, const std::vector<std::string>& changes);
  // For the step's sample of the parameters.
  ParameterWatch<T>& watch() { return watch_; }
  void after_step(const Update<T>& update, double seconds, double learning_rate);
  // A row of metrics.csv without its step.
  void add_row(const std::vector<double>& values);
  void after_validation(double value, double training_loss, bool has_patience);
  // Shows what the program shows, with the weights that were validated in the model.
  void show(const std::function<void(ReportSection&)>& examples);
  // Tables in the terminal and in the report, and a trace in the folder.
  void show_profile(const Profile& profile);
  // Writes the report if it is time to.
  void refresh() {
    if (report_ && report_->is_due()) write("running");
  }
  void finish(TrainingEnd end);
  // The exception that is being handled ends the training.
  void fail();

 private:
  void warn(const std::optional<std::string>& warning);
  void write(const std::string& state);
  // Calls `work`, which writes event files.
  void with_events(const std::function<void(EventFile&)>& work);

  const TrainerOptions& options_;
  const Module<T>& model_;
  const TrainingProgress<T>& progress_;
  TrainingDisplay& display_;
  ParameterWatch<T> watch_;
  TrainingWarnings warnings_;
  std::optional<RunReport> report_;
  std::vector<std::string> columns_;
  std::optional<EventFile> events_;
  bool has_failed_ = false;
};

extern template class TrainingReport<float>;
extern template class TrainingReport<double>;

}  // namespace weft
