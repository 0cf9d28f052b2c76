#include "weft/train/training_progress.hpp"

#include <cmath>
#include <utility>

#include "weft/autograd/error.hpp"
#include "autograd/internal/checks.hpp"

namespace weft {

template <class T>
TrainingProgress<T>::TrainingProgress(const TrainingIdentity& identity)
    : identity_(identity),
      seed_(static_cast<std::int64_t>(identity.seed)),
      data_fingerprint_(static_cast<std::int64_t>(identity.data_fingerprint)) {}

template <class T>
bool TrainingProgress<T>::add_validation(double value, bool is_scheduled) {
  const bool is_best = std::isfinite(value) && (best_step == 0 || value < best_value);
  if (is_best) {
    best_step = step;
    best_value = value;
    validations_without_improvement = 0;
  } else if (is_scheduled) {
    ++validations_without_improvement;
  }
  return is_best;
}

template <class T>
bool TrainingProgress<T>::add_validation(double value, const Plateau& plateau) {
  const double limit =
      plateau_best * (plateau_best < 0.0 ? 1.0 + plateau.threshold : 1.0 - plateau.threshold);
  const bool improves =
      std::isfinite(value) && value < limit && value < plateau_best - plateau.min_delta;
  if (improves) plateau_best = value;
  plateau_validations = improves || plateau_cooldown > 0 ? 0 : plateau_validations + 1;
  plateau_cooldown = std::max<std::int64_t>(plateau_cooldown - 1, 0);
  if (plateau_validations <= plateau.patience) return false;
  plateau_validations = 0;
  plateau_cooldown = plateau.cooldown;
  plateau_factor *= plateau.factor;
  return true;
}

template <class T>
double TrainingProgress<T>::take_mean_loss(double without_labels) {
  const double sum = std::exchange(loss_sum, 0.0);
  const double labels = std::exchange(label_sum, 0.0);
  return labels > 0.0 ? sum / labels : without_labels;
}

template <class T>
void TrainingProgress<T>::state(State<T>& state) {
  state.integer("step", step);
  state.integer("epoch", epoch);
  state.integer("batch", batch);
  state.integer("micro_step", micro_step);
  state.integer("best_step", best_step);
  state.number("best_value", best_value);
  state.text("best_column", best_column);
  state.integer("validations_without_improvement", validations_without_improvement);
  state.number("loss_sum", loss_sum);
  state.number("label_sum", label_sum);
  state.number("plateau_factor", plateau_factor);
  state.number("plateau_best", plateau_best);
  state.integer("plateau_validations", plateau_validations);
  state.integer("plateau_cooldown", plateau_cooldown);
  state.integer("skipped_steps", skipped_steps);
  state.integer("consecutive_skips", consecutive_skips);
  state.text("settings", settings);
  state.integer("seed", seed_);
  state.integer("data_fingerprint", data_fingerprint_);
}

template <class T>
void TrainingProgress<T>::check_state() const {
  // A limit that no training run reaches.
  constexpr std::int64_t most = std::int64_t{1} << 60;
  for (const auto& [name, count] : std::initializer_list<std::pair<const char*, std::int64_t>>{
           {"step", step},
           {"epoch", epoch},
           {"batch", batch},
           {"micro_step", micro_step},
           {"best_step", best_step},
           {"validations_without_improvement", validations_without_improvement},
           {"plateau_validations", plateau_validations},
           {"plateau_cooldown", plateau_cooldown},
           {"skipped_steps", skipped_steps},
           {"consecutive_skips", consecutive_skips}})
    if (count < 0 || count > most)
      fail<ValueError>(str_cat("training progress: ", name), str_cat("a value from 0 to ", most),
                       count);
  if (!(plateau_factor >= 0.0 && plateau_factor <= 1.0) || !std::isfinite(plateau_best))
    fail<ValueError>("training progress: plateau", "a factor from 0 to 1 and a finite best value",
                     str_cat(plateau_factor, " and ", plateau_best));
  check_finite_non_negative("training progress: label_sum", label_sum);
  if (!std::isfinite(best_value) || !std::isfinite(loss_sum))
    fail<ValueError>("training progress", "a finite best_value and loss_sum",
                     str_cat(best_value, " and ", loss_sum));
  if (seed_ != static_cast<std::int64_t>(identity_.seed))
    fail<ValueError>("training progress: seed", identity_.seed, static_cast<std::uint64_t>(seed_));
  if (data_fingerprint_ != static_cast<std::int64_t>(identity_.data_fingerprint))
    fail<ValueError>("training progress: data",
                     "the examples, batch size and data seed of the checkpoint", "different data");
}

template class TrainingProgress<float>;
template class TrainingProgress<double>;

}  // namespace weft
