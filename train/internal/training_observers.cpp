#include "train/internal/training_observers.hpp"

#include <utility>

#include "weft/autograd/error.hpp"

namespace weft {

template <class T>
TrainingObservers<T>::TrainingObservers(const TrainerOptions& options, const Module<T>& model,
                                        const Optimizer<T>& optimizer,
                                        TrainingProgress<T>& progress,
                                        const ParameterWatch<T>& watch, Profile* profile,
                                        bool measures_training, bool has_patience)
    : line_(options.output), progress_(line_, options.epochs) {
  if (!options.folder.empty()) {
    std::vector<MetricsColumn> statistics;
    if (options.update_statistics)
      statistics = {{"update_ratio", [&] { return median_ratio(watch.updates()); }},
                    {"noise_scale", [&] { return watch.noise.scale(); }}};
    all_.push_back(&metrics_.emplace(
        options.folder / "metrics.csv", options.log_every_steps,
        [&](double loss) { return progress.take_mean_loss(loss); }, std::move(statistics)));
    all_.push_back(&report_.emplace(options.folder, *metrics_, line_));
  }
  ReportObserver* const report = report_ ? &*report_ : nullptr;
  if (options.tensorboard)
    all_.push_back(&events_.emplace(options.folder, model, watch, *metrics_, *report_, line_));
  all_.push_back(
      &warnings_.emplace(watch.updates(), has_patience, measures_training, line_, report));
  if (profile) {
    const int processes = options.processes ? options.processes->size() : 1;
    const Index parts = part_limits(options.parts, model).most;
    all_.push_back(&profile_.emplace(*profile, optimizer, (parts + processes - 1) / processes,
                                     line_, report, options.folder));
  }
  all_.push_back(&progress_);
}

template <class T>
void TrainingObservers<T>::describe(const RunDescription& description,
                                    const std::function<void(ReportSection&)>& examples) {
  if (report_) {
    report_->describe(description);
    report_->show_examples(examples);
  }
  if (events_) {
    Settings settings = description.configuration;
    settings.insert(settings.end(), description.training.begin(), description.training.end());
    events_->describe(std::move(settings));
  }
}

template <class T>
void TrainingObservers<T>::begin(const TrainingStart& start) {
  has_begun_ = true;
  for (TrainingObserver* const observer : all_) observer->begin(start);
}

template <class T>
void TrainingObservers<T>::after_step(const StepReport& report) {
  for (TrainingObserver* const observer : all_) observer->after_step(report);
}

template <class T>
void TrainingObservers<T>::after_validation(const ValidationReport& report) {
  for (TrainingObserver* const observer : all_) observer->after_validation(report);
}

template <class T>
void TrainingObservers<T>::end(const TrainingResult& result) {
  for (auto observer = all_.rbegin(); observer != all_.rend(); ++observer) (*observer)->end(result);
}

template <class T>
void TrainingObservers<T>::fail(const std::exception_ptr& error) {
  if (!has_begun_) return;
  for (auto observer = all_.rbegin(); observer != all_.rend(); ++observer) try {
      (*observer)->fail(error);
    } catch (...) {
      // The exception that ended the run is reported instead.
    }
}

std::shared_ptr<TrainingObserver> step_observer(std::function<void(const StepReport&)> function) {
  struct StepObserver final : TrainingObserver {
    explicit StepObserver(std::function<void(const StepReport&)> call) : call_(std::move(call)) {}
    void after_step(const StepReport& report) override { call_(report); }

   private:
    std::function<void(const StepReport&)> call_;
  };
  return std::make_shared<StepObserver>(std::move(function));
}

template <class T>
RunDescription description_of(const TrainerOptions& options, const Settings& training,
                              const BatchLosses<T>& losses, const NamedStates<T>& saved,
                              const Module<T>& model) {
  RunDescription description{.label_unit = losses.unit, .columns = {}};
  if (options.processes) description.processes = options.processes->size();
  for (const auto& [name, object, is_optional] : saved)
    if (name == "configuration") description.configuration = settings_of(*object);
  for (auto& [name, value] : description.configuration)
    for (const auto& [its_name, in_use] : options.settings_in_use)
      if (its_name == name) value = in_use;
  description.training = training;
  description.notes = options.notes;
  description.data.emplace_back("batches per epoch", str_cat(losses.num_batches()));
  description.data.emplace_back("fingerprint",
                                losses.fingerprint == 0 ? "unknown" : str_cat(losses.fingerprint));
  describe_model(model, description);
  return description;
}

template class TrainingObservers<float>;
template class TrainingObservers<double>;
template RunDescription description_of(const TrainerOptions&, const Settings&,
                                       const BatchLosses<float>&, const NamedStates<float>&,
                                       const Module<float>&);
template RunDescription description_of(const TrainerOptions&, const Settings&,
                                       const BatchLosses<double>&, const NamedStates<double>&,
                                       const Module<double>&);

}  // namespace weft
