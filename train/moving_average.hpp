// ExponentialMovingAverage: an exponential moving average of a model's parameters.
#pragma once

#include <cstdint>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/layers/module.hpp"
#include "weft/train/optim/parameter_elements.hpp"
#include "weft/train/weights/state.hpp"

namespace weft {

// Keeps an average of each parameter, which `update` changes to
//   average ← decay · average + (1 - decay) · parameter
// The first update copies the parameters (Polyak and Juditsky, 1992; torch's AveragedModel with
// get_ema_multi_avg_fn). The model may be moved.
//   ExponentialMovingAverage average(model, 0.999);
//   trainer.track_average(average);
template <class T = float>
class WEFT_API ExponentialMovingAverage final : public Stateful<T> {
 public:
  // Throws ValueError unless 0 ≤ decay < 1.
  explicit ExponentialMovingAverage(Module<T>& model, double decay = 0.999);

  // Updates the averages with the parameters' current values. Throws Error if a parameter was
  // removed or replaced, and ShapeError if a parameter was assigned a value of a different shape.
  void update();
  // Exchanges the parameters' values with the averages, to evaluate or save the averaged model; a
  // second call exchanges them back. Throws Error before the first update, and the same exceptions
  // as `update`.
  void swap();

  std::int64_t updates() const { return updates_; }  // number of calls of `update`
  double decay() const { return decay_; }            // as passed to the constructor

  void state(State<T>& state) override;
  void check_state() const override;

 private:
  ParameterElements<T> elements_;
  std::vector<Tensor<T>> averages_;  // one for each parameter
  double decay_;
  std::int64_t updates_ = 0;
};

extern template class ExponentialMovingAverage<float>;
extern template class ExponentialMovingAverage<double>;

}  // namespace weft
