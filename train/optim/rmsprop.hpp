// RMSprop: steps scaled by a running mean of squared gradients.
#pragma once

#include "weft/train/optim/optimizer.hpp"

namespace weft {

struct RMSpropOptions {
  // Learning rate, ≥ 0.
  double lr = 1e-2;
  // Decay rate of the running mean, in 0 … 1 (1 excluded).
  double alpha = 0.99;
  // Added to the root of the mean, ≥ 0. Where the sum is 0, there is no step, whereas torch gives
  // NaN.
  double eps = 1e-8;
  // λ ≥ 0, on every parameter, added to the gradient as λ · parameter.
  double weight_decay = 0.0;
  // μ in 0 … 1 (1 excluded).
  double momentum = 0.0;
  // Parameters with settings of their own.
  ParameterGroups groups = {};
};

// Steps scaled by a running mean of squared gradients, as torch.optim.RMSprop (Tieleman and Hinton,
// 2012):
//   g ← gradient + λ · parameter,  v ← α v + (1 - α) g²
//   b ← μ b + g / (√v + eps),  parameter ← parameter - lr · b
// Constructors throw ValueError for options outside their ranges.
//   RMSprop optimizer(model, {.lr = 1e-3});
//   optimizer.step();
template <class T = float>
class WEFT_API RMSprop final : public Optimizer<T> {
 public:
  // For all parameters of a model, or for some.
  explicit RMSprop(Module<T>& model, const RMSpropOptions& options = {});
  explicit RMSprop(NamedParameters<T> parameters, const RMSpropOptions& options = {});

 private:
  void update(std::size_t index, Index size, T* values, const T* grad, T* const* state,
              T scale) override;

  enum : std::size_t { mean_square, momentum_buffer };  // the state's tensors

  RMSpropOptions options_;
};

extern template class RMSprop<float>;
extern template class RMSprop<double>;

}  // namespace weft
