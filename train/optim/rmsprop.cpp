#include "weft/train/optim/rmsprop.hpp"

#include <cmath>

#include "autograd/internal/checks.hpp"

namespace weft {

template <class T>
RMSprop<T>::RMSprop(Module<T>& model, const RMSpropOptions& options)
    : RMSprop(named_parameters(model), with_tied_groups(model, options)) {}

template <class T>
RMSprop<T>::RMSprop(NamedParameters<T> parameters, const RMSpropOptions& options)
    : Optimizer<T>(
          "RMSprop",
          str_cat("alpha ", options.alpha, ", eps ", options.eps, ", momentum ", options.momentum),
          std::move(parameters), options.lr, options.weight_decay, options.groups),
      options_(options) {
  if (!(options.alpha >= 0.0 && options.alpha < 1.0))
    fail<ValueError>("RMSprop: alpha", "0 ≤ alpha < 1", options.alpha);
  if (!(options.momentum >= 0.0 && options.momentum < 1.0))
    fail<ValueError>("RMSprop: momentum", "0 ≤ momentum < 1", options.momentum);
  check_finite_non_negative<T>("RMSprop: eps", options.eps);
  this->add_tensors("mean_square", /*non_negative=*/true);
  if (options.momentum > 0.0) this->add_tensors("momentum");
}

template <class T>
void RMSprop<T>::update(std::size_t index, Index size, T* values, const T* grad, T* const* state,
                        T scale) {
  const auto lr = static_cast<T>(this->learning_rate(index));
  const auto alpha = static_cast<T>(options_.alpha), eps = static_cast<T>(options_.eps);
  const auto one_minus_alpha = static_cast<T>(1.0 - options_.alpha);
  const auto decay = static_cast<T>(this->weight_decay(index));
  const auto momentum = static_cast<T>(options_.momentum);
  T* squares = state[mean_square];
  // Updates the running mean of element i, and returns the direction of its step.
  const auto direction = [=](Index i) {
    const T g = scale * grad[i] + decay * values[i];
    squares[i] = alpha * squares[i] + one_minus_alpha * g * g;
    const T divisor = std::sqrt(squares[i]) + eps;
    return divisor > T{0} ? g / divisor : T{0};
  };
  if (this->tensors() == 1) {
#pragma omp simd
    for (Index i = 0; i < size; ++i) values[i] -= lr * direction(i);
    return;
  }
  T* buffers = state[momentum_buffer];
#pragma omp simd
  for (Index i = 0; i < size; ++i) {
    buffers[i] = momentum * buffers[i] + direction(i);
    values[i] -= lr * buffers[i];
  }
}

template class RMSprop<float>;
template class RMSprop<double>;

}  // namespace weft
