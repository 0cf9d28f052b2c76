// TrainingObservers: all observers of a training run, including the user's.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "weft/train/report/progress_line.hpp"
#include "weft/train/trainer.hpp"
#include "train/report/internal/event_observer.hpp"
#include "train/report/internal/metrics_observer.hpp"
#include "train/report/internal/parameter_watch.hpp"
#include "train/report/internal/profile_observer.hpp"
#include "train/report/internal/progress_observer.hpp"
#include "train/report/internal/report_observer.hpp"
#include "train/report/internal/run_report.hpp"
#include "train/report/internal/warning_observer.hpp"

namespace weft {

// The observers that the options require, in the process that writes files and output. All
// references must outlive the object.
template <class T>
class TrainingObservers {
 public:
  // Creates the observers. `profile` may be null. See WarningObserver for the last two arguments.
  TrainingObservers(const TrainerOptions& options, const Module<T>& model,
                    const Optimizer<T>& optimizer, TrainingProgress<T>& progress,
                    const ParameterWatch<T>& watch, Profile* profile, bool measures_training,
                    bool has_patience);
  TrainingObservers(const TrainingObservers&) = delete;
  TrainingObservers& operator=(const TrainingObservers&) = delete;

  // Returns the progress line, which also shows messages.
  ProgressLine& line() { return line_; }
  // Sets the description of the run in reports, and the function that fills their examples.
  void describe(const RunDescription& description,
                const std::function<void(ReportSection&)>& examples);
  void add(TrainingObserver& observer) { all_.push_back(&observer); }

  void begin(const TrainingStart& start);
  void after_step(const StepReport& report);
  void after_validation(const ValidationReport& report);
  void show_progress(const StepReport& report) { progress_.show(report); }
  void end(const TrainingResult& result);
  void fail(const std::exception_ptr& error);

 private:
  ProgressLine line_;
  std::optional<MetricsObserver> metrics_;
  std::optional<ReportObserver> report_;
  std::optional<EventObserver<T>> events_;
  std::optional<WarningObserver> warnings_;
  std::optional<ProfileObserver<T>> profile_;
  ProgressObserver progress_;
  std::vector<TrainingObserver*> all_;
  bool has_begun_ = false;
};

// Returns an observer that calls a function after each step.
std::shared_ptr<TrainingObserver> step_observer(std::function<void(const StepReport&)> function);

// Describes a run for its report. `saved` are the objects in its checkpoints besides the model.
template <class T>
RunDescription description_of(const TrainerOptions& options, const Settings& training,
                              const BatchLosses<T>& losses, const NamedStates<T>& saved,
                              const Module<T>& model);

extern template class TrainingObservers<float>;
extern template class TrainingObservers<double>;

}  // namespace weft
