#include "weft/train/optim/adam.hpp"

#include <cmath>

#include "weft/autograd/error.hpp"
#include "autograd/internal/checks.hpp"

namespace weft {

bool is_weight_matrix(const std::string&, const Shape& shape) { return shape.rank() >= 2; }

template <class T>
Adam<T>::Adam(Module<T>& model, const AdamOptions& options)
    : Adam(named_parameters(model), with_tied_groups(model, options)) {}

template <class T>
Adam<T>::Adam(NamedParameters<T> parameters, const AdamOptions& options)
    : Adam("Adam", std::move(parameters), options, Decay::in_gradient,
           [](const std::string&, const Shape&) { return true; }) {}

template <class T>
Adam<T>::Adam(std::string type, NamedParameters<T> parameters, const AdamOptions& options,
              Decay decay, const std::function<bool(const std::string&, const Shape&)>& decays,
              const std::function<bool(const std::string&, const Shape&)>& is_undivided,
              const std::string& options_text)
    : Optimizer<T>(std::move(type),
                   str_cat(options_text, "betas ", options.beta1, " and ", options.beta2, ", eps ",
                           options.eps),
                   std::move(parameters), options.lr, options.weight_decay, options.groups, decays,
                   is_undivided),
      options_(options),
      decay_(decay) {
  const auto check = [&](const char* name, double value, double limit, const char* expected) {
    if (!(value >= 0.0 && value < limit))
      fail<ValueError>(str_cat(this->type(), ": ", name), expected, value);
  };
  check("beta1", options.beta1, 1.0, "0 ≤ beta1 < 1");
  check("beta2", options.beta2, 1.0, "0 ≤ beta2 < 1");
  check_finite_non_negative<T>(this->type() + ": eps", options.eps);
  check_function(this->type() + ": decays", decays);
  this->add_tensors("first_moment");
  this->add_tensors("second_moment", /*non_negative=*/true, /*only_divided=*/true);
}

template <class T>
void Adam<T>::update(std::size_t index, Index size, T* values, const T* grad, T* const* state,
                     T scale) {
  const double lr = this->learning_rate(index);
  const auto step = static_cast<double>(this->steps(index));
  const double weight_decay = this->weight_decay(index);
  const auto decay = static_cast<T>(decay_ == Decay::in_gradient ? weight_decay : 0.0);
  const auto parameter_factor =
      static_cast<T>(decay_ == Decay::decoupled ? 1.0 - lr * weight_decay : 1.0);
  const auto beta2 = static_cast<T>(options_.beta2);
  const auto one_minus_beta1 = static_cast<T>(1.0 - options_.beta1);
  const auto one_minus_beta2 = static_cast<T>(1.0 - options_.beta2);
  const auto step_size = static_cast<T>(lr / (1.0 - std::pow(options_.beta1, step)));
  const auto root_scale = static_cast<T>(1.0 / std::sqrt(1.0 - std::pow(options_.beta2, step)));
  const auto eps = static_cast<T>(options_.eps);
  T* first = state[first_moment];
  T* second = state[second_moment];
#pragma omp simd
  for (Index i = 0; i < size; ++i) {
    const T g = scale * grad[i] + decay * values[i];
    const T m = first[i] + one_minus_beta1 * (g - first[i]);
    const T v = beta2 * second[i] + one_minus_beta2 * g * g;
    first[i] = m;
    second[i] = v;
    const T divisor = std::sqrt(v) * root_scale + eps;
    const T change = divisor > T{0} ? step_size * m / divisor : T{0};
    values[i] = parameter_factor * values[i] - change;
  }
}

template <class T>
AdamW<T>::AdamW(Module<T>& model, const AdamWOptions& options)
    : AdamW(named_parameters(model), with_tied_groups(model, options)) {}

template <class T>
AdamW<T>::AdamW(NamedParameters<T> parameters, const AdamWOptions& options)
    : Adam<T>("AdamW", std::move(parameters),
              {options.lr, options.beta1, options.beta2, options.eps, options.weight_decay,
               options.groups},
              Adam<T>::Decay::decoupled, options.decays) {}

template class Adam<float>;
template class Adam<double>;
template class AdamW<float>;
template class AdamW<double>;

}  // namespace weft
