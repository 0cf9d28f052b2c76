#include "weft/train/training_progress.hpp"

#include <cmath>

#include "weft/autograd/error.hpp"
#include "autograd/internal/checks.hpp"

namespace weft {

template <class T>
TrainingProgress<T>::TrainingProgress(const TrainingIdentity& identity)
    : identity_(identity),
      seed_(static_cast<std::int64_t>(identity.seed)),
      data_fingerprint_(static_cast<std::int64_t>(identity.data_fingerprint)) {}

template <class T>
void TrainingProgress<T>::state(State<T>& state) {
  state.integer("step", step);
  state.integer("epoch", epoch);
  state.integer("batch", batch);
  state.integer("micro_step", micro_step);
  state.integer("best_step", best_step);
  state.number("best_value", best_value);
  state.integer("validations_without_improvement", validations_without_improvement);
  state.number("loss_sum", loss_sum);
  state.integer("label_sum", label_sum);
  state.text("schedule", schedule);
  state.integer("seed", seed_);
  state.integer("data_fingerprint", data_fingerprint_);
}

template <class T>
void TrainingProgress<T>::check_state() const {
  check_at_least("training progress: step", step, std::int64_t{0});
  check_at_least("training progress: epoch", epoch, std::int64_t{0});
  check_at_least("training progress: batch", batch, std::int64_t{0});
  check_at_least("training progress: micro_step", micro_step, std::int64_t{0});
  check_at_least("training progress: best_step", best_step, std::int64_t{0});
  check_at_least("training progress: validations_without_improvement",
                 validations_without_improvement, std::int64_t{0});
  check_at_least("training progress: label_sum", label_sum, std::int64_t{0});
  if (!std::isfinite(best_value) || !std::isfinite(loss_sum))
    fail<ValueError>("training progress", "a finite best_value and loss_sum",
                     concatenate_text(best_value, " and ", loss_sum));
  if (seed_ != static_cast<std::int64_t>(identity_.seed))
    fail<ValueError>("training progress: seed", identity_.seed, static_cast<std::uint64_t>(seed_));
  if (data_fingerprint_ != static_cast<std::int64_t>(identity_.data_fingerprint))
    fail<ValueError>("training progress: data",
                     "the examples, batch size and data seed of the checkpoint", "different ones");
}

template class TrainingProgress<float>;
template class TrainingProgress<double>;

}  // namespace weft
