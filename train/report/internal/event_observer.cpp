#include "train/report/internal/event_observer.hpp"

#include <optional>
#include <span>
#include <utility>

#include "weft/autograd/error.hpp"

namespace weft {

template <class T>
EventObserver<T>::EventObserver(std::filesystem::path folder, const Module<T>& model,
                                const ParameterWatch<T>& watch, const MetricsObserver& metrics,
                                const ReportObserver& report, ProgressLine& line)
    : folder_(std::move(folder)),
      model_(model),
      watch_(watch),
      metrics_(metrics),
      report_(report),
      line_(line) {}

template <class T>
void EventObserver<T>::begin(const TrainingStart& start) {
  first_step_ = start.step;
  write([&](EventFile& events) { events.add_settings(settings_); });
}

template <class T>
void EventObserver<T>::after_step(const StepReport& report) {
  if (!watch_.updates().empty())
    write([&](EventFile& events) {
      for (const ParameterUpdate& parameter : watch_.updates())
        events.add_histogram("gradients/" + parameter.name, report.step,
                             std::span<const double>(parameter.gradients));
    });
  add_row(report.step);
}

template <class T>
void EventObserver<T>::after_validation(const ValidationReport& report) {
  add_row(report.step);
  write([&](EventFile& events) {
    for (const auto& [name, parameter] : named_parameters(model_))
      events.add_histogram("weights/" + name, report.step,
                           std::span<const T>(parameter->value().data(),
                                              static_cast<std::size_t>(parameter->size())));
    if (const ReportSection* const examples = report_.examples())
      events.add_section(report.step, *examples);
  });
}

template <class T>
void EventObserver<T>::add_row(std::int64_t step) {
  const std::vector<std::optional<double>>& values = metrics_.row();
  if (values.empty()) return;
  write([&](EventFile& events) {
    for (std::size_t i = 1; i < values.size(); ++i)
      if (values[i]) events.add_scalar(metrics_.columns()[i + 1], step, *values[i]);
  });
}

template <class T>
void EventObserver<T>::write(const std::function<void(EventFile&)>& work) {
  try {
    if (!file_) file_.emplace(folder_, first_step_);
    work(*file_);
  } catch (const FileError& error) {
    if (!std::exchange(has_failed_, true))
      line_.message(str_cat("warning: TensorBoard events are incomplete: ", error.what(),
                            "; training continues"));
  }
}

template class EventObserver<float>;
template class EventObserver<double>;

}  // namespace weft
