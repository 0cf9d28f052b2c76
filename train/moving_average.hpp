// ExponentialMovingAverage: an exponential moving average of a model's parameters.
#pragma once

#include <cstdint>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/layers/module.hpp"
#include "weft/train/optim/parameter_elements.hpp"
#include "weft/train/weights/state.hpp"

namespace weft {

// After each step
//   average ← decay · average + (1 - decay) · parameter
// The first update copies the parameters (Polyak and Juditsky, 1992; torch's AveragedModel with
// get_ema_multi_avg_fn). Follows parameters that are moved.
//   ExponentialMovingAverage average(model, 0.999);
//   trainer.track_average(average);
template <class T = float>
class WEFT_API ExponentialMovingAverage final : public Stateful<T> {
 public:
  // Throws ValueError unless 0 ≤ decay < 1.
  explicit ExponentialMovingAverage(Module<T>& model, double decay = 0.999);

  // Adds the parameters as they are now to the averages. Throws Error when a parameter was removed
  // or replaced, and ShapeError when it was assigned one of another shape.
  void update();
  // Exchanges the parameters' values with the averages; a second call exchanges them back. For
  // evaluating and saving the average. Throws as `update` does, and Error before the first update.
  void swap();

  std::int64_t updates() const { return updates_; }  // calls of `update`

  void state(State<T>& state) override;
  void check_state() const override;

 private:
  ParameterElements<T> elements_;
  std::vector<Tensor<T>> averages_;  // of each parameter
  double decay_;
  std::int64_t updates_ = 0;
};

extern template class ExponentialMovingAverage<float>;
extern template class ExponentialMovingAverage<double>;

}  // namespace weft
