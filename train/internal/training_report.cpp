#include "train/internal/training_report.hpp"

#include <exception>
#include <span>
#include <utility>

#include "weft/autograd/error.hpp"

namespace weft {
namespace {

const char* name_of(TrainingEnd end) {
  return end == TrainingEnd::finished        ? "finished"
         : end == TrainingEnd::stopped_early ? "stopped early"
                                             : "interrupted";
}

}  // namespace

template <class T>
TrainingReport<T>::TrainingReport(const TrainerOptions& options, const Module<T>& model,
                                  const TrainingProgress<T>& progress, TrainingDisplay& display)
    : options_(options), model_(model), progress_(progress), display_(display) {}

template <class T>
void TrainingReport<T>::begin(const Settings& training, const BatchLosses<T>& losses,
                              const NamedStates<T>& saved, const TrainingFolder<T>& folder,
                              const std::vector<std::string>& changes) {
  if (options_.folder.empty()) return;
  columns_ = folder.columns();
  RunDescription description{.label_unit = losses.unit, .columns = columns_};
  if (options_.processes) description.processes = options_.processes->size();
  for (const auto& [name, object] : saved)
    if (name == "configuration") description.configuration = settings_of(*object);
  for (auto& [name, value] : description.configuration)
    for (const auto& [its_name, in_use] : options_.settings_in_use)
      if (its_name == name) value = in_use;
  description.training = training;
  description.changes = changes;
  description.notes = options_.notes;
  description.data.emplace_back("batches per epoch", concatenate_text(losses.num_batches()));
  description.data.emplace_back("fingerprint", concatenate_text(losses.fingerprint));
  describe_model(model_, description);
  report_.emplace(options_.folder, description, progress_.step);
  if (options_.tensorboard)
    with_events([&](EventFile& events) {
      Settings settings = description.configuration;
      settings.insert(settings.end(), description.training.begin(), description.training.end());
      events.add_settings(settings);
    });
}

template <class T>
void TrainingReport<T>::after_step(const Update<T>& update, double seconds, double learning_rate) {
  warn(warnings_.after_step(update.loss()));
  warn(warnings_.after_waiting(seconds, update.data_seconds()));
  if (watch_.updates().empty()) return;
  warn(warnings_.without_gradient(watch_.updates()));
  warn(warnings_.of_ratio(watch_.updates(), learning_rate));
  with_events([&](EventFile& events) {
    for (const ParameterUpdate& parameter : watch_.updates())
      events.add_histogram("gradients/" + parameter.name, progress_.step,
                           std::span<const double>(parameter.gradients));
  });
  watch_.clear();
}

template <class T>
void TrainingReport<T>::add_row(const std::vector<double>& values) {
  if (!report_) return;
  report_->add_row(progress_.step, values);
  with_events([&](EventFile& events) {
    for (std::size_t i = 1; i < values.size(); ++i)
      events.add_scalar(columns_[i + 1], progress_.step, values[i]);
  });
}

template <class T>
void TrainingReport<T>::after_validation(double value, double training_loss, bool has_patience) {
  warn(warnings_.after_validation(progress_.step, value, training_loss, has_patience));
}

template <class T>
void TrainingReport<T>::show(const std::function<void(ReportSection&)>& examples) {
  if (!report_) return;
  with_events([&](EventFile& events) {
    for (const auto& [name, parameter] : named_parameters(model_))
      events.add_histogram("weights/" + name, progress_.step,
                           std::span<const T>(parameter->value().data(),
                                              static_cast<std::size_t>(parameter->size())));
  });
  if (!examples) return;
  ReportSection section;
  examples(section);
  report_->add_examples(progress_.step, section);
  with_events([&](EventFile& events) { events.add_section(progress_.step, section); });
}

template <class T>
void TrainingReport<T>::show_profile(const Profile& profile) {
  const std::string phases = profile.phase_table(), operations = profile.operation_table(),
                    memory = profile.memory_table();
  display_.message(concatenate_text(phases, '\n', operations, '\n', memory));
  if (!report_) return;
  std::string predictions;
  for (const int threads : {1, 2, 4, 8, 16, 32, 64})
    predictions += concatenate_text(threads, threads == 1 ? " thread: " : " threads: ",
                                    1e3 * profile.predicted_step_seconds(threads), " ms\n");
  ReportSection section;
  section.preformatted("Phases of a step", phases);
  section.preformatted("Operations", operations);
  section.flame_graph("Where the time goes", profile);
  section.preformatted("Layers", profile.layer_table());
  section.preformatted("Memory at its peak", memory);
  section.preformatted("A step on other numbers of threads, predicted", predictions);
  report_->set_section("Profile", section);
  try {
    profile.write_trace(options_.folder / "trace.json");
  } catch (const FileError& error) {
    display_.message(concatenate_text("warning: the trace cannot be written: ", error.what()));
  }
}

template <class T>
void TrainingReport<T>::finish(TrainingEnd end) {
  write(name_of(end));
}

template <class T>
void TrainingReport<T>::fail() {
  try {
    throw;
  } catch (const NonFiniteError& error) {
    warn(concatenate_text(error.what(), "; ", non_finite_advice));
  } catch (const std::exception& error) {
    if (report_) report_->add_warning(progress_.step, error.what());
  } catch (...) {
    // It has no message.
  }
  write("failed");
}

template <class T>
void TrainingReport<T>::warn(const std::optional<std::string>& warning) {
  if (!warning) return;
  display_.message("warning: " + *warning);
  if (report_) report_->add_warning(progress_.step, *warning);
}

template <class T>
void TrainingReport<T>::write(const std::string& state) {
  if (!report_) return;
  const auto error = report_->write({.state = state,
                                     .step = progress_.step,
                                     .total_steps = display_.total_steps(),
                                     .best_step = progress_.best_step,
                                     .best_value = progress_.best_value});
  if (error && !std::exchange(has_failed_, true))
    display_.message("warning: the report cannot be written: " + *error + "; training goes on");
}

template <class T>
void TrainingReport<T>::with_events(const std::function<void(EventFile&)>& work) {
  if (!options_.tensorboard) return;
  try {
    if (!events_) events_.emplace(options_.folder, progress_.step);
    work(*events_);
  } catch (const FileError& error) {
    if (!std::exchange(has_failed_, true))
      display_.message(concatenate_text("warning: events cannot be written: ", error.what(),
                                        "; training goes on"));
  }
}

template class TrainingReport<float>;
template class TrainingReport<double>;

}  // namespace weft
