#include "weft/train/optim/sgd.hpp"

#include "weft/autograd/error.hpp"
#include "autograd/internal/checks.hpp"

namespace weft {

template <class T>
SGD<T>::SGD(Module<T>& model, const SGDOptions& options)
    : SGD(named_parameters(model), with_tied_groups(model, options)) {}

template <class T>
SGD<T>::SGD(NamedParameters<T> parameters, const SGDOptions& options)
    : Optimizer<T>("SGD",
                   str_cat("momentum ", options.momentum, options.nesterov ? " (Nesterov)" : ""),
                   std::move(parameters), options.lr, options.weight_decay, options.groups),
      options_(options) {
  if (!(options.momentum >= 0.0 && options.momentum < 1.0))
    fail<ValueError>("SGD: momentum", "0 ≤ momentum < 1", options.momentum);
  if (options.nesterov && options.momentum == 0.0)
    fail<ValueError>("SGD: nesterov", "a momentum > 0", options.momentum);
  if (options.momentum > 0.0) this->add_tensors("velocity");
}

template <class T>
void SGD<T>::update(std::size_t index, Index size, T* values, const T* grad, T* const* state,
                    T scale) {
  const auto lr = static_cast<T>(this->learning_rate(index));
  const auto decay = static_cast<T>(this->weight_decay(index));
  if (this->tensors() == 0) {
#pragma omp simd
    for (Index i = 0; i < size; ++i) values[i] -= lr * (scale * grad[i] + decay * values[i]);
    return;
  }
  const auto momentum = static_cast<T>(options_.momentum);
  const T gradient_factor = options_.nesterov ? T{1} : T{0};
  const T velocity_factor = options_.nesterov ? momentum : T{1};
  T* velocities = state[0];
#pragma omp simd
  for (Index i = 0; i < size; ++i) {
    const T g = scale * grad[i] + decay * values[i];
    const T velocity = momentum * velocities[i] + g;
    velocities[i] = velocity;
    values[i] -= lr * (gradient_factor * g + velocity_factor * velocity);
  }
}

template class SGD<float>;
template class SGD<double>;

}  // namespace weft
