#include "weft/train/trainer.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <ostream>
#include <utility>

#include "weft/autograd/error.hpp"
#include "weft/train/distributed/broadcast_state.hpp"
#include "weft/train/parallel_pass.hpp"
#include "weft/train/progress_line.hpp"
#include "weft/train/weights/checkpoint.hpp"
#include "autograd/internal/checks.hpp"
#include "train/distributed/internal/agreement.hpp"
#include "train/files/directory_lock.hpp"
#include "train/files/file_descriptor.hpp"
#include "train/internal/checkpoint_saver.hpp"
#include "train/internal/metrics_file.hpp"
#include "train/internal/update.hpp"
#include "train/weights/internal/dataset_names.hpp"

namespace weft {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void check_validation(const Validation& validation) {
  check_at_least("trainer: validation.every_steps", validation.every_steps, std::int64_t{0});
  check_at_least("trainer: validation.patience", validation.patience, std::int64_t{0});
  if (validation.columns.empty())
    fail<ValueError>("trainer: validation.columns", "at least one", "none");
  check_function("trainer: validation.run", validation.run);
}

void check_options(const TrainerOptions& options) {
  check_at_least("trainer: epochs", options.epochs, std::int64_t{0});
  check_at_least("trainer: max_steps", options.max_steps, std::int64_t{0});
  check_at_least("trainer: accumulation", options.accumulation, Index{1});
  constexpr Index most_parts = ParallelPass<float>::most_parts;
  if (options.parts < 1 || options.parts > most_parts)
    fail<ValueError>("trainer: parts", concatenate_text("1 … ", most_parts), options.parts);
  check_at_least("trainer: save_every_steps", options.save_every_steps, std::int64_t{0});
  check_at_least("trainer: save_every_seconds", options.save_every_seconds, 0.0);
  check_at_least("trainer: keep_checkpoints", options.keep_checkpoints, std::int64_t{0});
  check_at_least("trainer: log_every_steps", options.log_every_steps, std::int64_t{1});
  check_positive("trainer: clip_norm", options.clip_norm);
  if (options.resume && options.folder.empty())
    fail<ValueError>("trainer: resume", "a directory to resume from", "none");
  if (options.validation) check_validation(*options.validation);
  if (!options.plateau) return;
  const auto& [factor, patience, threshold] = *options.plateau;
  if (!(factor >= 0.0 && factor < 1.0))
    fail<ValueError>("trainer: plateau.factor", "0 ≤ factor < 1", factor);
  check_at_least("trainer: plateau.patience", patience, std::int64_t{0});
  if (!(threshold >= 0.0 && threshold < 1.0))
    fail<ValueError>("trainer: plateau.threshold", "0 ≤ threshold < 1", threshold);
}

}  // namespace

// One call of `TrainingLoop::run`.
template <class T>
class TrainingLoop<T>::Run {
 public:
  explicit Run(TrainingLoop& trainer)
      : trainer_(trainer),
        options_(trainer.options_),
        progress_(trainer.progress_),
        optimizer_(trainer.optimizer_),
        processes_(options_.processes && options_.processes->size() > 1 ? options_.processes
                                                                        : nullptr),
        update_(trainer.model_, optimizer_, trainer.losses_, options_, progress_, trainer.average_),
        line_(is_first() ? options_.output : nullptr),
        saver_({options_.folder, options_.save_in_background, options_.keep_checkpoints}) {}

  TrainingResult train() {
    try {
      return train_to_end();
    } catch (...) {
      finish_step();
      throw;
    }
  }

 private:
  TrainingResult train_to_end() {
    if (options_.plateau && !options_.validation)
      fail<ValueError>("trainer: plateau", "a validation", "none");
    if (processes_) check_processes();
    in_first([&] { open_directory(); });
    if (processes_) share_state();
    if (best_is_missing_) restore_best();
    first_step_ = progress_.step;
    agree_on_end(false);
    while (!ended() && interrupt_status_ == 0) {
      const std::int64_t epoch = progress_.epoch + 1;
      update();
      const bool epoch_ends = progress_.batch == 0;
      if (options_.validation && (is_scheduled_validation() || limit_reached()))
        validate(epoch);
      else if (epoch_ends || progress_.step % options_.log_every_steps == 0)
        log(epoch, {});
      saver_.check();
      if (epoch_ends || save_is_due()) save_last();
      show(epoch);
      if (options_.should_stop) update_.finish();
      agree_on_end(options_.should_stop && options_.should_stop());
      if (should_stop_ && options_.validation && validated_step_ != progress_.step) validate(epoch);
    }
    if (saved_step_ != progress_.step) save_last();
    update_.finish();
    if (processes_) optimizer_.unite(*processes_);
    saver_.wait();
    return {end(), progress_.step, progress_.best_step, progress_.best_value,
            end() == TrainingEnd::interrupted ? interrupt_status_ : 0};
  }

  // After an error: with the weights that other processes have updated, if these still send them.
  void finish_step() {
    try {
      update_.finish();
    } catch (...) {
      // One of the others has failed, too.
    }
  }

  void update() {
    const auto start = Clock::now();
    update_.run();
    loss_ = update_.loss();
    labels_seen_ += update_.labels();
    seconds_ += seconds_since(start);
  }

  // --- Several processes --------------------------------------------------------------------

  std::size_t num_processes() const {
    return processes_ ? static_cast<std::size_t>(processes_->size()) : 1;
  }
  bool is_first() const { return !processes_ || processes_->is_first(); }
  void in_first(const std::function<void()>& work) {
    if (processes_)
      on_first(*processes_, work);
    else
      work();
  }

  void check_processes() {
    std::vector<Common> items = common_program();
    const auto add = [&](const char* name, const auto&... values) {
      items.push_back({name, concatenate_text(values...)});
    };
    add("seed", options_.seed);
    add("data", trainer_.losses_.fingerprint);
    add("parts", options_.parts);
    add("accumulation", options_.accumulation);
    add("epochs and max_steps", options_.epochs, " and ", options_.max_steps);
    add("clip_norm", options_.clip_norm);
    add("precision", name_of("precision", options_.precision, precision_names));
    add("schedule", schedule_description());
    add("optimizer", optimizer_.description());
    add("average", trainer_.average_ ? "one" : "none");
    add("validation", options_.validation
                          ? concatenate_text("every ", options_.validation->every_steps)
                          : "none");
    add("folder", options_.folder.empty() ? "none" : "one", options_.resume ? " to resume" : "");
    add("should_stop", options_.should_stop ? "one" : "none");
    add("steps done", progress_.step);
    for (Common& item : common_model(named_parameters(trainer_.model_)))
      items.push_back(std::move(item));
    check_common(*processes_, items);
  }

  // What the first process has loaded becomes the state of all.
  void share_state() {
    std::int64_t flags[] = {saved_step_, best_is_missing_};
    processes_->broadcast(std::as_writable_bytes(std::span(flags)));
    saved_step_ = flags[0];
    best_is_missing_ = flags[1] != 0;
    if (saved_step_ >= 0) {
      broadcast_state(*processes_, trainer_.model_);
      for (const NamedState<T>& state : states()) broadcast_state(*processes_, *state.object);
    }
    update_.divide();
  }

  // The signal of one process, or one that stops, ends the training of all.
  void agree_on_end(bool stops) {
    interrupt_status_ = options_.interrupt ? options_.interrupt->exit_status() : 0;
    should_stop_ = stops;
    if (!processes_) return;
    std::fill(votes_.begin(), votes_.end(), 0.0);
    const auto own = static_cast<std::size_t>(processes_->rank());
    votes_[own] = 2.0 * interrupt_status_ + (stops ? 1.0 : 0.0);
    processes_->gather(votes_, vote_counts_);
    for (const double vote : votes_) {
      interrupt_status_ = std::max(interrupt_status_, static_cast<int>(vote) / 2);
      should_stop_ = should_stop_ || static_cast<int>(vote) % 2 == 1;
    }
  }

  // --- After an update ----------------------------------------------------------------------

  bool is_scheduled_validation() const {
    const std::int64_t every_steps = options_.validation->every_steps;
    return every_steps > 0 ? progress_.step % every_steps == 0 : progress_.batch == 0;
  }

  // With the average of the parameters in the model, if there is one.
  std::vector<double> run_validation() {
    update_.finish();
    if (!trainer_.average_) return options_.validation->run();
    trainer_.average_->swap();
    std::vector<double> values;
    try {
      values = options_.validation->run();
    } catch (...) {
      trainer_.average_->swap();
      throw;
    }
    trainer_.average_->swap();
    return values;
  }

  void update_plateau(double value) {
    const auto& [factor, patience, threshold] = *options_.plateau;
    const double best = progress_.plateau_best;
    if (std::isfinite(value) && value < best * (best < 0.0 ? 1.0 + threshold : 1.0 - threshold)) {
      progress_.plateau_best = value;
      progress_.plateau_validations = 0;
    } else if (++progress_.plateau_validations > patience) {
      progress_.plateau_validations = 0;
      progress_.plateau_factor *= factor;
      if (!options_.schedule) optimizer_.set_learning_rate(optimizer_.learning_rate() * factor);
      line_.message(
          concatenate_text("no improvement: the learning rate is multiplied by ", factor));
    }
  }

  void validate(std::int64_t epoch) {
    const Validation& validation = *options_.validation;
    std::vector<double> values = run_validation();
    if (values.size() != validation.columns.size())
      fail<ValueError>("validation", concatenate_text(validation.columns.size(), " values"),
                       values.size());
    if (processes_) processes_->broadcast(std::as_writable_bytes(std::span(values)));
    validated_step_ = progress_.step;
    const bool better =
        std::isfinite(values[0]) && (progress_.best_step == 0 || values[0] < progress_.best_value);
    if (better) {
      progress_.best_step = progress_.step;
      progress_.best_value = values[0];
      progress_.validations_without_improvement = 0;
    } else if (is_scheduled_validation()) {
      ++progress_.validations_without_improvement;
    }
    if (options_.plateau && is_scheduled_validation()) update_plateau(values[0]);
    std::string text = concatenate_text("epoch ", epoch, ", step ", progress_.step, ":");
    for (std::size_t i = 0; i < values.size(); ++i)
      text += concatenate_text(i == 0 ? " " : ", ", validation.columns[i], " ", values[i]);
    line_.message(text + (better ? " (best)" : ""));
    log(epoch, values);
    if (!better) return;
    // Beside a best.h5 there is always a last.h5 to resume from.
    if (saved_step_ < 0) save_last();
    save_best();
  }

  void log(std::int64_t epoch, const std::vector<double>& validation) {
    const double loss = progress_.label_sum > 0
                            ? progress_.loss_sum / static_cast<double>(progress_.label_sum)
                            : loss_;
    if (metrics_)
      metrics_->add({progress_.step, epoch, loss, optimizer_.learning_rate(), update_.grad_norm(),
                     tokens_per_second(), validation});
    progress_.loss_sum = 0.0;
    progress_.label_sum = 0;
  }

  void show(std::int64_t epoch) {
    const std::int64_t updates_in_epoch = (update_.num_batches() - 1) / options_.accumulation + 1;
    std::int64_t total = std::numeric_limits<std::int64_t>::max();
    if (options_.epochs <= total / updates_in_epoch) total = options_.epochs * updates_in_epoch;
    if (options_.max_steps > 0) total = std::min(total, options_.max_steps);
    const auto done = static_cast<double>(progress_.step - first_step_);
    const auto left = static_cast<double>(total - progress_.step);
    smoothed_loss_ = done > 1.0 ? 0.95 * smoothed_loss_ + 0.05 * loss_ : loss_;
    line_.show({epoch, options_.epochs, progress_.step, total, smoothed_loss_,
                optimizer_.learning_rate(), update_.grad_norm(), tokens_per_second(),
                seconds_since(start_) / done * left});
  }

  double tokens_per_second() const { return static_cast<double>(labels_seen_) / seconds_; }

  // --- Stopping -----------------------------------------------------------------------------

  bool out_of_patience() const {
    return options_.validation && options_.validation->patience > 0 &&
           progress_.validations_without_improvement >= options_.validation->patience;
  }
  bool stopped_early() const { return should_stop_ || out_of_patience(); }
  bool limit_reached() const {
    return progress_.epoch >= options_.epochs ||
           (options_.max_steps > 0 && progress_.step >= options_.max_steps);
  }
  bool ended() const { return limit_reached() || stopped_early(); }
  TrainingEnd end() const {
    if (!ended()) return TrainingEnd::interrupted;
    return stopped_early() ? TrainingEnd::stopped_early : TrainingEnd::finished;
  }

  // --- Files --------------------------------------------------------------------------------

  void open_directory() {
    if (options_.folder.empty()) return;
    std::error_code error;
    std::filesystem::create_directories(options_.folder, error);
    if (error) fail<FileError>(options_.folder.string(), "a writable directory", error.message());
    lock_.emplace(options_.folder);
    const bool last_exists = exists("last.h5"), best_exists = exists("best.h5");
    if (options_.resume && last_exists)
      resume();
    else if (options_.resume && best_exists)
      fail_on_file(file("last.h5"), "the checkpoint to resume from beside best.h5", "none");
    else if (progress_.step == 0 && (last_exists || best_exists))
      fail<FileError>(options_.folder.string(), "a directory without checkpoints, or `resume`",
                      "checkpoints of an earlier training");
    metrics_.emplace(
        file("metrics.csv"),
        options_.validation ? options_.validation->columns : std::vector<std::string>{},
        progress_.step);
    best_is_missing_ = options_.resume && last_exists && !best_exists;
  }

  // Whether `folder` has an entry of this name, which may be a symbolic link without target.
  bool exists(const char* name) const {
    std::error_code error;
    const std::filesystem::file_status status = std::filesystem::symlink_status(file(name), error);
    if (!std::filesystem::status_known(status))
      fail_on_file(file(name), "a file that can be looked at", error.message());
    return std::filesystem::exists(status);
  }

  void resume() {
    load_checkpoint(file("last.h5"), trainer_.model_, states());
    saved_step_ = progress_.step;
    line_.message(
        concatenate_text("resumed from ", file("last.h5").string(), " at step ", progress_.step));
    if (progress_.schedule != schedule_description())
      line_.message(concatenate_text("the schedule was '", progress_.schedule, "' and is now '",
                                     schedule_description(), "'"));
  }

  // For a best.h5 that is gone, or was not saved yet when the training was killed.
  void restore_best() {
    if (progress_.best_step == 0) return;
    if (progress_.best_step == progress_.step) return save_best();
    line_.message(concatenate_text("best.h5 of step ", progress_.best_step,
                                   " is gone; the best model is the best from here on"));
    progress_.best_step = 0;
    progress_.best_value = 0.0;
  }

  // The checkpoint of the current step.
  Hdf5Writer checkpoint(const char* name) {
    progress_.schedule = schedule_description();
    return prepare_checkpoint(file(name), trainer_.model_, states());
  }
  // The state of all processes is that of the first one while it prepares the file.
  void save(const std::function<void()>& write) {
    update_.finish();
    if (processes_) optimizer_.collect(*processes_);
    in_first(write);
    if (processes_) optimizer_.release();
  }
  void save_best() {
    if (!options_.folder.empty()) save([&] { saver_.save(checkpoint("best.h5")); });
  }
  void save_last() {
    if (!options_.folder.empty())
      save([&] { saver_.save_last(checkpoint("last.h5"), progress_.step); });
    saved_step_ = progress_.step;
    last_save_ = Clock::now();
  }

  NamedStates<T> states() {
    NamedStates<T> states = trainer_.also_saved_;
    states.emplace_back("optimizer", optimizer_);
    states.emplace_back("progress", progress_);
    return states;
  }

  std::filesystem::path file(const char* name) const { return options_.folder / name; }
  std::string schedule_description() const {
    return options_.schedule ? options_.schedule->description() : "the optimizer's learning rate";
  }

  bool save_is_due() {
    const bool steps_are_due =
        options_.save_every_steps > 0 && progress_.step % options_.save_every_steps == 0;
    if (options_.save_every_seconds == 0.0) return steps_are_due;
    bool seconds_are_due = seconds_since(last_save_) >= options_.save_every_seconds;
    if (processes_) processes_->broadcast(std::as_writable_bytes(std::span(&seconds_are_due, 1)));
    return steps_are_due || seconds_are_due;
  }

  TrainingLoop& trainer_;
  const TrainerOptions& options_;
  TrainingProgress<T>& progress_;
  Optimizer<T>& optimizer_;
  ProcessGroup* processes_;  // null when this one is alone
  Update<T> update_;
  double loss_ = 0.0;           // of the last update
  double smoothed_loss_ = 0.0;  // moving average of loss_
  int interrupt_status_ = 0;
  bool should_stop_ = false;  // last result of options_.should_stop
  std::vector<double> votes_ = std::vector<double>(num_processes());
  std::vector<int> vote_counts_ = std::vector<int>(num_processes(), 1);

  ProgressLine line_;
  std::optional<DirectoryLock> lock_;
  CheckpointSaver saver_;  // done before the lock is released
  std::optional<MetricsFile> metrics_;
  std::int64_t first_step_ = 0;   // when this run started
  std::int64_t saved_step_ = -1;  // in last.h5; -1 when there is none
  bool best_is_missing_ = false;
  std::int64_t validated_step_ = -1;  // the last one that was validated by this run
  std::int64_t labels_seen_ = 0;
  double seconds_ = 0.0;  // spent in updates
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_save_ = Clock::now();
};

template <class T>
TrainingLoop<T>::TrainingLoop(Module<T>& model, Optimizer<T>& optimizer, BatchLosses<T> losses,
                              TrainerOptions options)
    : model_(model),
      optimizer_(optimizer),
      losses_(std::move(losses)),
      options_(std::move(options)),
      progress_({options_.seed, losses_.fingerprint}, options_.plateau.has_value()) {
  check_options(options_);
}

template <class T>
void TrainingLoop<T>::set_validation(Validation validation) {
  check_validation(validation);
  options_.validation = std::move(validation);
}

template <class T>
void TrainingLoop<T>::also_save(const std::string& name, Stateful<T>& object) {
  path_of_name(name);
  const bool is_used = std::ranges::any_of(
      also_saved_, [&](const NamedState<T>& saved) { return saved.name == name; });
  if (is_used || name == "model" || name == "optimizer" || name == "progress")
    fail<ValueError>("trainer: also_save", "a name that is not used yet", "'" + name + "'");
  also_saved_.emplace_back(name, object);
}

template <class T>
void TrainingLoop<T>::keep_average(MovingAverage<T>& average) {
  also_save("average", average);
  average_ = &average;
}

template <class T>
TrainingResult TrainingLoop<T>::run() {
  std::optional<Run> run;  // outlives the section: others may read from its memory until they leave
  TrainingResult result;
  together(options_.processes, [&] { result = run.emplace(*this).train(); });
  return result;
}

template class TrainingLoop<float>;
template class TrainingLoop<double>;

}  // namespace weft
