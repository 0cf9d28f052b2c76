// TrainingProgress: how far a training has come; with the model and the optimizer, all that it
// needs to go on as if it had never stopped.
#pragma once

#include <cstdint>
#include <string>

#include "weft/train/weights/state.hpp"

namespace weft {

// What must be the same when a training goes on.
struct TrainingIdentity {
  std::uint64_t seed = 0;
  std::uint64_t data_fingerprint = 0;  // of its BatchSource
};

template <class T = float>
class TrainingProgress final : public Stateful<T> {
 public:
  explicit TrainingProgress(const TrainingIdentity& identity);

  std::int64_t step = 0;        // updates done
  std::int64_t epoch = 0;       // where the next batch is, from 0
  std::int64_t batch = 0;       // its position in the epoch, from 0
  std::int64_t micro_step = 0;  // batches seen; dropout masks depend on it and on the seed

  std::int64_t best_step = 0;                        // of the best validation; 0 before the first
  double best_value = 0.0;                           // its first value
  std::int64_t validations_without_improvement = 0;  // validations since then

  // Since the last row of metrics.csv: the sum of each update's loss times its labels.
  double loss_sum = 0.0;
  std::int64_t label_sum = 0;

  std::string schedule;  // its description

  void state(State<T>& state) override;
  // Also throws ValueError when the state is of a training with another identity.
  void check_state() const override;

 private:
  TrainingIdentity identity_;
  // The identity as the state has it.
  std::int64_t seed_;
  std::int64_t data_fingerprint_;
};

extern template class TrainingProgress<float>;
extern template class TrainingProgress<double>;

}  // namespace weft
