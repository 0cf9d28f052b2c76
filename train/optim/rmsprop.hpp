// RMSprop: steps scaled by a running mean of squared gradients.
#pragma once

#include "weft/train/optim/optimizer.hpp"

namespace weft {

// Options of RMSprop.
struct RMSpropOptions {
  // Learning rate, ≥ 0.
  double lr = 1e-2;
  // Decay rate of the running mean; 0 ≤ alpha < 1.
  double alpha = 0.99;
  // Added to the square root of the mean, ≥ 0. If the sum is 0, the element is not changed; torch
  // returns NaN.
  double eps = 1e-8;
  // λ ≥ 0; λ · parameter is added to the gradient of every parameter.
  double weight_decay = 0.0;
  // μ; 0 ≤ momentum < 1.
  double momentum = 0.0;
  // Parameters with separate settings.
  ParameterGroups groups = {};
};

// Scales steps by a running mean of squared gradients (Tieleman and Hinton, 2012;
// torch.optim.RMSprop):
//   g ← gradient + λ · parameter,  v ← α v + (1 - α) g²
//   b ← μ b + g / (√v + eps),  parameter ← parameter - lr · b
// Constructors throw ValueError for options outside their ranges.
//   RMSprop optimizer(model, {.lr = 1e-3});
//   optimizer.step();
template <class T = float>
class WEFT_API RMSprop final : public Optimizer<T> {
 public:
  // Updates all parameters of a model.
  explicit RMSprop(Module<T>& model, const RMSpropOptions& options = {});
  // Updates the given parameters.
  explicit RMSprop(NamedParameters<T> parameters, const RMSpropOptions& options = {});
  // Updates the given parameters, whose names are their numbers: "0", "1", …
  explicit RMSprop(std::initializer_list<Parameter<T>*> parameters,
                   const RMSpropOptions& options = {})
      : RMSprop(numbered<T>(parameters), options) {}
  explicit RMSprop(const std::vector<Parameter<T>*>& parameters, const RMSpropOptions& options = {})
      : RMSprop(numbered<T>(parameters), options) {}

 private:
  void update(std::size_t index, Index size, T* values, const T* grad, T* const* state,
              T scale) override;

  enum : std::size_t { mean_square, momentum_buffer };  // the state's tensors

  RMSpropOptions options_;
};

extern template class RMSprop<float>;
extern template class RMSprop<double>;

}  // namespace weft
