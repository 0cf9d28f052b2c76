#include "weft/train/trainer.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iomanip>
#include <limits>
#include <span>
#include <utility>

#include "weft/autograd/error.hpp"
#include "weft/train/parallel/broadcast_state.hpp"
#include "autograd/internal/checks.hpp"
#include "train/internal/training_folder.hpp"
#include "train/internal/training_loss.hpp"
#include "train/internal/training_observers.hpp"
#include "train/internal/training_settings.hpp"
#include "train/internal/update.hpp"
#include "train/parallel/internal/agreement.hpp"
#include "train/weights/internal/dataset_names.hpp"
#include "train/weights/internal/snapshot.hpp"

namespace weft {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

constexpr const char* training_loss = "training_loss";

// Returns a number with its sign, "+0.0123".
std::string signed_text(double value) { return str_cat(std::showpos, std::setprecision(3), value); }

}  // namespace

// A call of `TrainingLoop::run`.
template <class T>
class TrainingLoop<T>::Run {
 public:
  explicit Run(TrainingLoop& trainer)
      : trainer_(trainer),
        options_(trainer.options_),
        validation_(trainer.validation_),
        progress_(trainer.progress_),
        optimizer_(trainer.optimizer_),
        processes_(ProcessGroup::or_self(options_.processes)),
        profile_(new_profile()),
        update_(trainer.model_, optimizer_, trainer.losses_, options_, progress_, trainer.average_,
                watch_, profile()),
        folder_(options_, trainer.model_, states(), progress_) {
    if (validation_) columns_ = validation_->columns;
    measures_training_ =
        validation_ && std::ranges::find(columns_, training_loss) == columns_.end();
    if (measures_training_) columns_.emplace_back(training_loss);
    if (processes_.is_root())
      observers_.emplace(options_, trainer.model_, optimizer_, progress_, watch_, profile(),
                         measures_training_, validation_ && validation_->patience > 0);
  }

  TrainingResult train() {
    try {
      begin();
      while (!ended() && end_vote_.exit_status == 0) step();
      finish();
      const TrainingResult result{end(),
                                  progress_.step,
                                  progress_.best_step,
                                  progress_.best_value,
                                  progress_.skipped_steps,
                                  end() == StopReason::interrupted ? end_vote_.exit_status : 0};
      if (validation_ && validation_->restore_best_weights && result.end != StopReason::interrupted)
        restore_best_weights();
      if (observers_) observers_->end(result);
      return result;
    } catch (...) {
      if (observers_) observers_->fail(std::current_exception());
      finish_update();
      throw;
    }
  }

 private:
  void begin() {
    if (options_.plateau && !validation_)
      fail<ValueError>("trainer: plateau", "a validation", "none");
    if (processes_.size() > 1) check_processes();
    if (!is_supported(options_.precision))
      message("bf16: not supported on this machine, so products use single precision");
    in_first([&] { open_folder(); });
    if (processes_.size() > 1) share_state();
    if (best_is_missing_) restore_best();
    vote(false);
  }

  void step() {
    update();
    if (report_.is_validated) validate();
    folder_.check();
    if (report_.ends_epoch || save_is_due()) save_last();
    if (observers_) observers_->show_progress(report_);
    if (options_.should_stop) update_.finish();
    vote(options_.should_stop && options_.should_stop());
    if (end_vote_.stops && validation_ && validated_step_ != progress_.step) validate();
    if (profile_) profile_->end_step();
  }

  void finish() {
    if (saved_step_ != progress_.step) save_last();
    update_.finish();
    update_.allgather_state();
    folder_.wait();
  }

  // Call after an error. Waits for weights from other processes, if they still send them.
  void finish_update() {
    try {
      update_.finish();
    } catch (...) {
      // Another process has failed as well.
    }
  }

  void update() {
    const auto start = Clock::now();
    report_.epoch = progress_.epoch + 1;
    update_.run();
    report_.seconds = seconds_since(start);
    seconds_ += report_.seconds;
    labels_ += update_.labels();
    report_.step = progress_.step;
    report_.ends_epoch = progress_.batch == 0;
    report_.is_validated = validation_ && (is_scheduled_validation() || limit_reached());
    report_.total_steps = total_steps();
    report_.loss = update_.loss();
    report_.labels = update_.labels();
    report_.learning_rate = optimizer_.learning_rate();
    report_.grad_norm = update_.grad_norm();
    report_.is_skipped = update_.is_skipped();
    report_.data_seconds = update_.data_seconds();
    report_.labels_per_second = static_cast<double>(labels_) / seconds_;
    // The user's observers may read the weights.
    if (!trainer_.observers_.empty()) update_.finish();
    if (observers_) observers_->after_step(report_);
    watch_.clear();
  }

  // Returns the number of steps of the whole training run.
  std::int64_t total_steps() const {
    const std::int64_t updates_in_epoch =
        (update_.num_batches() - 1) / options_.gradient_accumulation_steps + 1;
    std::int64_t total = std::numeric_limits<std::int64_t>::max();
    if (options_.epochs <= total / updates_in_epoch) total = options_.epochs * updates_in_epoch;
    return options_.max_steps > 0 ? std::min(total, options_.max_steps) : total;
  }

  void message(const std::string& text) {
    if (observers_) observers_->line().message(text);
  }

  // --- Several processes --------------------------------------------------------------------

  // Calls `work` in the root process; if it throws, all processes throw.
  void in_first(const std::function<void()>& work) {
    processes_.broadcast_from_root([&] {
      work();
      return std::string();
    });
  }

  // Throws ValueError if settings that must be the same differ between processes.
  void check_processes() {
    const auto check = [&](const char* what, const auto&... values) {
      check_same(processes_, what, str_cat(values...));
    };
    check_same_program(processes_);
    for (const auto& [name, value] : settings()) check(name.c_str(), value);
    check("folder", options_.folder.empty() ? "none" : "one", options_.resume ? " to resume" : "");
    check("should_stop", options_.should_stop ? "one" : "none");
    check("data", trainer_.losses_.fingerprint);
    check("number of observers", trainer_.observers_.size());
    check("steps done", progress_.step);
    check_same_model(processes_, named_parameters(trainer_.model_));
  }

  // Copies the state loaded by the root process to all processes.
  void share_state() {
    std::int64_t flags[] = {saved_step_, best_is_missing_};
    processes_.broadcast(std::as_writable_bytes(std::span(flags)));
    saved_step_ = flags[0];
    best_is_missing_ = flags[1] != 0;
    if (saved_step_ >= 0) {
      broadcast_state(processes_, trainer_.model_);
      for (const NamedState<T>& state : states()) broadcast_state(processes_, *state.object);
    }
    update_.divide();
  }

  // --- Profile ------------------------------------------------------------------------------
  std::unique_ptr<Profile> new_profile() const {
    const bool measures = options_.profile && processes_.is_root();
    return measures ? std::make_unique<Profile>(trainer_.model_) : nullptr;
  }
  Profile* profile() const { return profile_.get(); }

  // --- Validation ---------------------------------------------------------------------------
  bool is_scheduled_validation() const {
    const std::int64_t every_steps = validation_->every_steps;
    return every_steps > 0 ? progress_.step % every_steps == 0 : progress_.batch == 0;
  }

  // Calls `work` while the model contains the averaged parameters, if an average is tracked.
  void with_average(const std::function<void()>& work) {
    ExponentialMovingAverage<T>* average = trainer_.average_;
    if (average && average->updates() == 0) average = nullptr;  // all steps were skipped
    if (average) average->swap();
    try {
      work();
    } catch (...) {
      if (average) average->swap();
      throw;
    }
    if (average) average->swap();
  }

  std::vector<double> run_validation() {
    const Profile::Phase phase(profile(), "validation");
    update_.finish();
    std::vector<double> values;
    with_average([&] {
      values = validation_->run();
      if (values.size() != validation_->columns.size())
        fail<ValueError>("validation", str_cat(validation_->columns.size(), " values"),
                         values.size());
      if (measures_training_)
        values.push_back(mean_training_loss(trainer_.losses_, progress_.epoch,
                                            part_limits(options_.parts, trainer_.model_),
                                            options_.processes));
    });
    processes_.broadcast(std::as_writable_bytes(std::span(values)));
    return values;
  }

  void validate() {
    const std::vector<double> values = run_validation();
    validated_step_ = progress_.step;
    const bool is_first = progress_.best_step == 0;
    const double best_before = progress_.best_value;
    const bool is_best = progress_.add_validation(values[0], is_scheduled_validation());
    if (is_best) progress_.best_column = columns_[0];
    if (options_.plateau && is_scheduled_validation() &&
        progress_.add_validation(values[0], *options_.plateau))
      lower_learning_rate(options_.plateau->factor);
    std::string text = str_cat("epoch ", report_.epoch, ", step ", progress_.step, ":");
    for (std::size_t i = 0; i < values.size(); ++i)
      text += str_cat(i == 0 ? " " : ", ", columns_[i], " ", values[i]);
    const std::string change = is_first ? "" : signed_text(values[0] - best_before);
    message(text + (is_best    ? is_first ? " (best)" : " (best, " + change + ")"
                    : is_first ? ""
                               : " (" + change + " from the best)"));
    if (observers_)
      with_average([&] {
        observers_->after_validation({.step = progress_.step,
                                      .epoch = report_.epoch,
                                      .values = values,
                                      .is_best = is_best,
                                      .best_step = progress_.best_step,
                                      .best_value = progress_.best_value});
      });
    if (!is_best) return;
    if (validation_->restore_best_weights)
      with_average([&] { trainer_.restore_best_weights_ = snapshot(trainer_.model_); });
    // A folder with best.h5 must also contain a last.h5 to resume from.
    if (saved_step_ < 0) save_last();
    save_best();
  }

  void lower_learning_rate(double factor) {
    const double rate = options_.plateau->reduced(optimizer_.learning_rate(), factor);
    if (!options_.schedule) optimizer_.schedule_learning_rate(rate);
    message(str_cat("no improvement: the learning rate is multiplied by ", factor));
  }

  // --- Stopping -----------------------------------------------------------------------------
  void vote(bool stops) {
    const int exit_status = options_.interrupt ? options_.interrupt->exit_status() : 0;
    end_vote_ = common_vote(processes_, {exit_status, stops});
  }
  bool out_of_patience() const {
    return validation_ && validation_->patience > 0 &&
           progress_.validations_without_improvement >= validation_->patience;
  }
  bool stopped_early() const { return end_vote_.stops || out_of_patience(); }
  bool limit_reached() const {
    return progress_.epoch >= options_.epochs ||
           (options_.max_steps > 0 && progress_.step >= options_.max_steps);
  }
  bool ended() const { return limit_reached() || stopped_early(); }
  StopReason end() const {
    if (!ended()) return StopReason::interrupted;
    return stopped_early() ? StopReason::stopped_early : StopReason::finished;
  }

  // --- Files --------------------------------------------------------------------------------
  NamedStates<T> states() {
    NamedStates<T> states = trainer_.also_saved_;
    states.emplace_back("optimizer", optimizer_);
    states.emplace_back("progress", progress_);
    return states;
  }

  Settings settings() const {
    Settings settings = training_settings(options_, optimizer_.description());
    const auto* const average = trainer_.average_;
    settings.emplace_back("validation", description_of(validation_));
    settings.emplace_back("average", average ? str_cat("decay ", average->decay()) : "none");
    return settings;
  }

  void open_folder() {
    const Settings now = settings();
    std::vector<std::string> changes;
    if (folder_.open()) {
      saved_step_ = progress_.step;
      trainer_.restore_best_weights_ = nullptr;
      message(str_cat("resumed from ", (options_.folder / "last.h5").string(), " at step ",
                      progress_.step));
      // Checkpoints of weft 0.2 contain no settings.
      if (!progress_.settings.empty()) changes = changes_between(progress_.settings, lines_of(now));
      for (const std::string& change : changes) {
        message(change);
        // The next step must not use the rate of the earlier schedule.
        if (change.starts_with("the schedule was ") && !options_.schedule)
          optimizer_.schedule_learning_rate(options_.plateau.value_or(Plateau()).reduced(
              optimizer_.initial_learning_rate(), progress_.plateau_factor));
      }
    }
    if (observers_) {
      observers_->describe(
          description_of(options_, now, trainer_.losses_, trainer_.also_saved_, trainer_.model_),
          trainer_.examples_);
      for (const auto& observer : trainer_.observers_) observers_->add(*observer);
      observers_->begin({.step = progress_.step,
                         .best_step = progress_.best_step,
                         .best_value = progress_.best_value,
                         .skipped_steps = progress_.skipped_steps,
                         .columns = columns_,
                         .label_unit = trainer_.losses_.unit,
                         .changes = changes});
    }
    folder_.begin();
    best_is_missing_ = folder_.best_is_missing() || chooses_anew();
    progress_.settings = lines_of(now);
  }

  // Handles a missing best.h5, which was deleted or not yet saved when the run was killed, and a
  // best model chosen by a value with a different name.
  void restore_best() {
    if (progress_.best_step == 0) return;
    const bool is_other_value = chooses_anew();
    if (!is_other_value && progress_.best_step == progress_.step) return save_best();
    message(str_cat("best.h5 of step ", progress_.best_step,
                    is_other_value ? " was chosen by " + progress_.best_column : " is missing",
                    "; only later validations will determine the best model"));
    progress_.best_step = 0;
    progress_.best_value = 0.0;
    if (!is_other_value) return;
    progress_.validations_without_improvement = progress_.plateau_validations = 0;
    progress_.plateau_best = std::numeric_limits<double>::max();
  }
  // Whether the best model so far was chosen by a value with a different name.
  bool chooses_anew() const {
    const std::string& column = progress_.best_column;
    return validation_ && progress_.best_step > 0 && !column.empty() && column != columns_[0];
  }

  void restore_best_weights() {
    if (trainer_.restore_best_weights_) return trainer_.restore_best_weights_();
    if (progress_.best_step == 0) return;
    // The best validation was before the run resumed.
    in_first([&] { load_checkpoint(options_.folder / "best.h5", trainer_.model_); });
    if (processes_.size() > 1) broadcast_state(processes_, trainer_.model_);
  }

  // Calls `write` in the root process, which has the whole state during the call.
  void save(const std::function<void()>& write) {
    if (options_.folder.empty()) return;
    const Profile::Phase phase(profile(), "checkpoint");
    update_.finish();
    update_.with_whole_optimizer([&] { in_first(write); });
  }
  void save_best() {
    save([&] { folder_.save_best(); });
  }
  void save_last() {
    save([&] { folder_.save_last(); });
    saved_step_ = progress_.step;
    last_save_ = Clock::now();
  }

  bool save_is_due() {
    const bool steps_are_due =
        options_.save_every_steps > 0 && progress_.step % options_.save_every_steps == 0;
    if (options_.save_every_seconds == 0.0) return steps_are_due;
    bool seconds_are_due = seconds_since(last_save_) >= options_.save_every_seconds;
    processes_.broadcast(std::as_writable_bytes(std::span(&seconds_are_due, 1)));
    return steps_are_due || seconds_are_due;
  }

  TrainingLoop& trainer_;
  const TrainerOptions& options_;
  const std::optional<Validation>& validation_;
  TrainingProgress<T>& progress_;
  Optimizer<T>& optimizer_;
  ProcessGroup& processes_;
  EndVote end_vote_;
  ParameterWatch<T> watch_;
  const std::unique_ptr<Profile> profile_;  // null unless the options ask for it
  Update<T> update_;
  TrainingFolder<T> folder_;
  std::optional<TrainingObservers<T>> observers_;  // set in the root process
  StepReport report_;                              // report of the last update
  Index labels_ = 0;                               // labels in all updates of this run
  double seconds_ = 0.0;                           // duration of all updates of this run
  std::vector<std::string> columns_;               // names of the validation values
  bool measures_training_ = false;                 // whether the last column is "training_loss"
  std::int64_t saved_step_ = -1;                   // step of last.h5; -1 if there is none
  bool best_is_missing_ = false;
  std::int64_t validated_step_ = -1;  // last step that this run validated
  Clock::time_point last_save_ = Clock::now();
};

template <class T>
TrainingLoop<T>::TrainingLoop(Module<T>& model, Optimizer<T>& optimizer, BatchLosses<T> losses,
                              TrainerOptions options)
    : model_(model),
      options_(std::move(options)),
      optimizer_(optimizer),
      losses_(std::move(losses)),
      progress_({options_.seed, losses_.fingerprint}) {
  check_options(options_);
}

template <class T>
void TrainingLoop<T>::validate_with(Validation validation) {
  check_validation(validation);
  validation_ = std::move(validation);
}

template <class T>
void TrainingLoop<T>::register_for_checkpointing(const NamedState<T>& state) {
  path_of_name(state.name);
  std::vector<std::string> used{"model", "model_options", "optimizer", "progress"};
  for (const NamedState<T>& saved : also_saved_) used.push_back(saved.name);
  if (std::ranges::find(used, state.name) != used.end())
    fail<ValueError>("trainer: register_for_checkpointing", "an unused name",
                     "'" + state.name + "'");
  also_saved_.push_back(state);
}

template <class T>
void TrainingLoop<T>::show_examples(std::function<void(ReportSection&)> examples) {
  check_function("trainer: show_examples", examples);
  examples_ = std::move(examples);
}

template <class T>
void TrainingLoop<T>::observe(TrainingObserver& observer) {
  observers_.emplace_back(&observer, [](TrainingObserver*) {});
}

template <class T>
void TrainingLoop<T>::after_step(std::function<void(const StepReport&)> function) {
  check_function("trainer: after_step", function);
  observers_.push_back(step_observer(std::move(function)));
}

template <class T>
TrainingResult TrainingLoop<T>::run() {
  // Outlives the collective section, because other processes may read its memory until its end.
  std::optional<Run> run;
  TrainingResult result;
  ProcessGroup::or_self(options_.processes).run_collectively([&] {
    result = run.emplace(*this).train();
  });
  return result;
}

template class TrainingLoop<float>;
template class TrainingLoop<double>;

}  // namespace weft
