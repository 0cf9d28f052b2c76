// TrainingProgress: how far a training has come; with the model and the optimizer, all that it
// needs to go on as if it had never stopped.
#pragma once

#include <cstdint>

#include "train/state.hpp"

namespace weft {

template <class T = float>
class TrainingProgress final : public Stateful<T> {
 public:
  std::int64_t step = 0;        // updates done
  std::int64_t epoch = 0;       // where the next batch is, from 0
  std::int64_t batch = 0;       // its position in the epoch, from 0
  std::int64_t micro_step = 0;  // batches seen; dropout masks depend on it and the seed
  std::int64_t seed = 0;

  std::int64_t validations = 0;
  std::int64_t best_step = 0;   // the step of the best validation; 0 before the first
  double best_value = 0.0;      // its first value
  std::int64_t not_better = 0;  // validations since the best one

  // Sums since the last row of metrics.csv.
  double loss_sum = 0.0;  // of each update's loss times its labels
  std::int64_t label_sum = 0;
  double seconds = 0.0;  // spent training, over all runs

  // What the training depends on beside its state; compared on resuming.
  std::int64_t data_fingerprint = 0;
  std::string schedule;

  void state(State<T>& state) override;
  void check_state() const override;
};

extern template class TrainingProgress<float>;
extern template class TrainingProgress<double>;

}  // namespace weft
