#include "weft/train/moving_average.hpp"

#include <utility>

#include "weft/autograd/error.hpp"
#include "autograd/internal/checks.hpp"

namespace weft {

template <class T>
ExponentialMovingAverage<T>::ExponentialMovingAverage(Module<T>& model, double decay)
    : elements_(named_parameters(model)), decay_(decay) {
  if (!(decay >= 0.0 && decay < 1.0))
    fail<ValueError>("moving average: decay", "0 ≤ decay < 1", decay);
  for (const auto& [name, parameter] : elements_.parameters())
    averages_.emplace_back(parameter->shape());
}

template <class T>
void ExponentialMovingAverage<T>::update() {
  elements_.check_shapes("moving average");
  const auto added = static_cast<T>(updates_ == 0 ? 1.0 : 1.0 - decay_);
  // Copies memory shared with other tensors, before threads write to it.
  for (Tensor<T>& average : averages_) average.data();
  elements_.for_each_part([&](std::size_t index, Index begin, Index end) {
    const T* values = elements_.parameters()[index].parameter->value().data();
    T* averages = averages_[index].data();
#pragma omp simd
    for (Index i = begin; i < end; ++i) averages[i] += added * (values[i] - averages[i]);
  });
  ++updates_;
}

template <class T>
void ExponentialMovingAverage<T>::swap() {
  elements_.check_shapes("moving average");
  if (updates_ == 0) fail<Error>("moving average", "at least one update before `swap`", "none");
  for (std::size_t i = 0; i < averages_.size(); ++i) {
    Parameter<T>& parameter = *elements_.parameters()[i].parameter;
    Tensor<T> values = parameter.value();
    parameter.set_value(std::exchange(averages_[i], std::move(values)));
  }
}

template <class T>
void ExponentialMovingAverage<T>::state(State<T>& state) {
  elements_.check_exist("moving average");
  state.integer("updates", updates_);
  for (std::size_t i = 0; i < averages_.size(); ++i)
    state.tensor(elements_.parameters()[i].name, averages_[i]);
}

template <class T>
void ExponentialMovingAverage<T>::check_state() const {
  check_at_least("moving average: updates", updates_, std::int64_t{0});
}

template class ExponentialMovingAverage<float>;
template class ExponentialMovingAverage<double>;

}  // namespace weft
