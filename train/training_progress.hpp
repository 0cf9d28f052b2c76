// TrainingProgress: the state of the training loop; with the model and the optimizer, all that is
// needed to resume training with bitwise identical results.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "weft/autograd/export.hpp"
#include "weft/train/weights/state.hpp"

namespace weft {

// What must not change when training resumes.
struct TrainingIdentity {
  std::uint64_t seed = 0;
  std::uint64_t data_fingerprint = 0;  // of the data source
};

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

  // See Plateau: the product of its factors so far, the lowest value, and the validations since.
  double plateau_factor = 1.0;
  double plateau_best = std::numeric_limits<double>::max();
  std::int64_t plateau_validations = 0;

  // Since the last row of metrics.csv: the sum of each update's loss times its labels.
  double loss_sum = 0.0;
  std::int64_t label_sum = 0;

  std::string schedule;  // the description of the schedule

  void state(State<T>& state) override;
  // Also throws ValueError when the state has a different identity.
  void check_state() const override;

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
