// TrainingProgress: the state of the training loop. Together with the model and the optimizer, it
// is all that is needed to resume training with bitwise identical results.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "weft/autograd/export.hpp"
#include "weft/train/weights/state.hpp"

namespace weft {

// Lowers the learning rate when the validation value stops improving, like torch's
// ReduceLROnPlateau. Unlike torch, it also works for negative values: torch counts a value equal to
// a negative best value as an improvement.
struct Plateau {
  // Multiplies the learning rate after more than `patience` validations in a row without
  // improvement; 0 ≤ factor < 1.
  double factor = 0.1;
  std::int64_t patience = 10;  // ≥ 0; see `factor`
  // A validation improves if its first value is finite, below best - threshold · |best| and below
  // best - min_delta; 0 ≤ threshold < 1, and min_delta is finite and ≥ 0.
  double threshold = 1e-4;
  double min_delta = 0.0;     // see `threshold`
  std::int64_t cooldown = 0;  // validations after a reduction that are not counted, ≥ 0
  // The lowest learning rate after a reduction, finite and ≥ 0. Lower rates are not reduced.
  double min_lr = 0.0;

  // Returns a learning rate after reductions whose factors have this product.
  double reduced(double learning_rate, double product) const {
    return std::max(learning_rate * product, std::min(learning_rate, min_lr));
  }
};

// The settings that must not change when training resumes.
struct TrainingIdentity {
  std::uint64_t seed = 0;              // seed for dropout
  std::uint64_t data_fingerprint = 0;  // DataSource::fingerprint
};

// The state of the training loop, stored in checkpoints.
template <class T = float>
class WEFT_API TrainingProgress final : public Stateful<T> {
 public:
  explicit TrainingProgress(const TrainingIdentity& identity);  // progress of a new run

  std::int64_t step = 0;        // updates done
  std::int64_t epoch = 0;       // epoch of the next batch, from 0
  std::int64_t batch = 0;       // position of the next batch in the epoch, from 0
  std::int64_t micro_step = 0;  // batches processed; determines the dropout masks, with the seed

  std::int64_t best_step = 0;  // step of the best validation; 0 before the first one
  double best_value = 0.0;     // first value of the best validation
  std::string best_column;     // name of that value
  std::int64_t validations_without_improvement = 0;  // scheduled validations since the best one

  double plateau_factor = 1.0;                               // product of the factors applied
  double plateau_best = std::numeric_limits<double>::max();  // value of the last improvement
  std::int64_t plateau_validations = 0;  // validations since the improvement or the last reduction
  std::int64_t plateau_cooldown = 0;     // remaining validations of the cooldown

  std::int64_t skipped_steps = 0;      // see TrainerOptions::max_consecutive_skips
  std::int64_t consecutive_skips = 0;  // steps skipped since the last step that was not

  double loss_sum = 0.0;   // sum of loss · weight since the last row of metrics.csv
  double label_sum = 0.0;  // sum of the weights since that row (see WeightedLoss)

  // The settings of the run (optimizer, schedule, …), one per line as "name: value".
  std::string settings;

  // Records the first value of a validation at the current step. Returns whether it is finite and
  // the lowest so far. Otherwise, a scheduled validation adds 1 to
  // `validations_without_improvement`.
  bool add_validation(double value, bool is_scheduled);
  // Records the first value of a scheduled validation for `plateau`. Returns whether it multiplied
  // `plateau_factor` by plateau.factor.
  bool add_validation(double value, const Plateau& plateau);
  // Returns the mean loss since the last call and resets it; `without_labels` if there were no
  // labels.
  double take_mean_loss(double without_labels);

  void state(State<T>& state) override;
  // Throws ValueError for values out of range and for a state with a different identity.
  void check_state() const override;
  bool is_new_since_0_2(const std::string& name) const override {
    return name == "settings" || name == "best_column" || name.starts_with("plateau_") ||
           name.find("skip") != name.npos;
  }
  bool was_only_in_0_2(const std::string& name) const override { return name == "schedule"; }

 private:
  TrainingIdentity identity_;
  // The identity in the state.
  std::int64_t seed_;
  std::int64_t data_fingerprint_;
};

extern template class TrainingProgress<float>;
extern template class TrainingProgress<double>;

}  // namespace weft
