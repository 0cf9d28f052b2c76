#include "train/report/internal/parameter_watch.hpp"

#include <algorithm>
#include <cmath>

namespace weft {
namespace {

constexpr Index most_samples = 1024;

// Calls body(i) for at most `most_samples` evenly spaced elements.
template <class Body>
void for_each_sample(Index size, const Body& body) {
  const Index stride = (size - 1) / most_samples + 1;
  for (Index i = 0; i < size; i += stride) body(i);
}

Index samples_of(Index size) {
  return size == 0 ? 0 : (size - 1) / ((size - 1) / most_samples + 1) + 1;
}

double root_mean_square(double sum, Index size) {
  return size == 0 ? 0.0 : std::sqrt(sum / static_cast<double>(samples_of(size)));
}

double square(double value) { return value * value; }

}  // namespace

template <class T>
void ParameterWatch<T>::before_update(std::int64_t step, const NamedParameters<T>& parameters,
                                      double gradient_scale) {
  is_watching_ = step % every_steps == 0;
  if (!is_watching_) return;
  updates_.clear();
  values_.resize(parameters.size());
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    const auto& [name, parameter] = parameters[k];
    ParameterUpdate update{.name = name, .is_matrix = parameter->shape().rank() >= 2};
    const T* const value = parameter->value().data();
    double sum = 0.0;
    values_[k].clear();
    for_each_sample(parameter->size(), [&, &samples = values_[k]](Index i) {
      samples.push_back(value[i]);
      sum += square(static_cast<double>(value[i]));
    });
    update.value = root_mean_square(sum, parameter->size());
    if (parameter->has_grad()) {
      const Tensor<T>& gradient = parameter->gradient_sum().values();
      sum = 0.0;
      for_each_sample(parameter->size(), [&](Index i) {
        update.gradients.push_back(gradient_scale * static_cast<double>(gradient.data()[i]));
        sum += square(update.gradients.back());
      });
      update.gradient = root_mean_square(sum, parameter->size());
      update.has_gradient =
          sum > 0.0 || std::ranges::any_of(gradient, [](T element) { return element != T{0}; });
    }
    updates_.push_back(std::move(update));
  }
}

template <class T>
void ParameterWatch<T>::after_update(const NamedParameters<T>& parameters) {
  if (!is_watching_) return;
  is_watching_ = false;
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    const T* const value = parameters[k].parameter->value().data();
    double sum = 0.0;
    auto before = values_[k].begin();
    for_each_sample(parameters[k].parameter->size(), [&](Index i) {
      sum += square(static_cast<double>(value[i]) - static_cast<double>(*before++));
    });
    updates_[k].change = root_mean_square(sum, parameters[k].parameter->size());
  }
}

template class ParameterWatch<float>;
template class ParameterWatch<double>;

}  // namespace weft
