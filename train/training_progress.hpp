// TrainingProgress: the state of the training loop; with the model and the optimizer, all that is
// needed to resume training with bitwise identical results.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "weft/autograd/export.hpp"
#include "weft/train/weights/state.hpp"

namespace weft {

// Lowers the learning rate when validations no longer improve: torch's ReduceLROnPlateau, but also
// for values below 0, of which torch takes one that is equal to the best for an improvement.
struct Plateau {
  // The rate is multiplied by it, in 0 … 1 (1 excluded), after more than `patience` validations
  // whose first value was not finite and below best - threshold · |best|.
  double factor = 0.1;
  std::int64_t patience = 10;  // see factor
  double threshold = 1e-4;     // see factor
};

// What must not change when training resumes.
struct TrainingIdentity {
  std::uint64_t seed = 0;              // of dropout
  std::uint64_t data_fingerprint = 0;  // of the data source
};

// Where a training is: with the model and the optimizer, all that is needed to resume it.
template <class T = float>
class WEFT_API TrainingProgress final : public Stateful<T> {
 public:
  // `with_plateau`: whether the plateau's members are part of the state.
  explicit TrainingProgress(const TrainingIdentity& identity, bool with_plateau = false);

  std::int64_t step = 0;        // updates done
  std::int64_t epoch = 0;       // of the next batch, from 0
  std::int64_t batch = 0;       // position of the next batch in the epoch, from 0
  std::int64_t micro_step = 0;  // batches processed; dropout masks depend on it and on the seed

  std::int64_t best_step = 0;                        // of the best validation; 0 before the first
  double best_value = 0.0;                           // its first value
  std::int64_t validations_without_improvement = 0;  // validations since then

  double plateau_factor = 1.0;                               // the product of Plateau's factors
  double plateau_best = std::numeric_limits<double>::max();  // the lowest value
  std::int64_t plateau_validations = 0;                      // since the lowest value

  double loss_sum = 0.0;   // losses times their weights since the last row of metrics.csv
  double label_sum = 0.0;  // weights since then: numbers of labels (see WeightedLoss)

  // How the model is trained: the optimizer, the schedule, … in lines of "name: value".
  std::string settings;

  // Of a validation at this step, its first value. Returns whether it is the best one so far; if
  // not, it counts as one without improvement when it is a scheduled one.
  bool add_validation(double value, bool is_scheduled);
  // The same value for the plateau. Returns whether the learning rate was multiplied by its factor.
  bool add_validation(double value, const Plateau& plateau);
  // The mean loss since the last call, and none from here on.
  double take_mean_loss(double without_labels);

  void state(State<T>& state) override;
  // Also throws ValueError when the state has a different identity.
  void check_state() const override;
  bool is_new_since_0_2(const std::string& name) const override { return name == "settings"; }
  bool was_only_in_0_2(const std::string& name) const override { return name == "schedule"; }

 private:
  TrainingIdentity identity_;
  bool with_plateau_;
  // The identity in the state.
  std::int64_t seed_;
  std::int64_t data_fingerprint_;
};

extern template class TrainingProgress<float>;
extern template class TrainingProgress<double>;

}  // namespace weft
