#include "weft/train/optim/optimizer.hpp"

#include <algorithm>
#include <cmath>

#include "weft/autograd/error.hpp"
#include "weft/train/optim/clip.hpp"
#include "autograd/internal/checks.hpp"

namespace weft {
template <class T>
Optimizer<T>::Optimizer(std::string type, NamedParameters<T> parameters, double learning_rate)
    : type_(std::move(type)),
      loaded_type_(type_),
      elements_(std::move(parameters)),
      learning_rate_(learning_rate) {
  check_finite_non_negative<T>("learning rate", learning_rate);
}

template <class T>
void Optimizer<T>::step(double gradient_scale) {
  if (!std::isfinite(gradient_scale))
    fail<NonFiniteError>("gradient scale", "a finite number ≥ 0", gradient_scale);
  check_finite_non_negative<T>("gradient scale", gradient_scale);
  elements_.prepare(type_);
  prepare_tensors();
  ++steps_;
  const auto scale = static_cast<T>(gradient_scale);
  parallel_for(elements_.size(), grain_of(1), [&](Index first, Index last) {
    elements_.for_each_part(first, last, [&](std::size_t index, Index begin, Index end) {
      const GradientSum<T>& gradient = parameters()[index].parameter->gradient_sum();
      if (!gradient.empty()) update(index, begin, end, gradient.values().data(), scale);
    });
  });
  zero_grad();
}

// Before threads write: the shapes are right, and the tensors have memory of their own.
template <class T>
void Optimizer<T>::prepare_tensors() {
  for (auto& [name, tensors] : tensors_)
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const auto& [parameter_name, parameter] = parameters()[i];
      if (tensors[i].shape() != parameter->shape())
        fail<ShapeError>(concatenate_text(type_, ": ", name, " of ", parameter_name),
                         parameter->shape(), tensors[i].shape());
      tensors[i].data();
    }
}

template <class T>
void Optimizer<T>::zero_grad() {
  for (const auto& [name, parameter] : parameters()) parameter->zero_grad();
}

template <class T>
double Optimizer<T>::grad_norm() const {
  return weft::grad_norm(elements_);
}

template <class T>
void Optimizer<T>::set_learning_rate(double learning_rate) {
  check_finite_non_negative<T>("learning rate", learning_rate);
  learning_rate_ = learning_rate;
}

template <class T>
void Optimizer<T>::state(State<T>& state) {
  state.text("type", loaded_type_);
  state.integer("step", steps_);
  state.number("learning_rate", learning_rate_);
  for (auto& [name, tensors] : tensors_)
    for (std::size_t i = 0; i < tensors.size(); ++i)
      state.tensor(name + "." + parameters()[i].name, tensors[i]);
}

template <class T>
void Optimizer<T>::check_state() const {
  if (loaded_type_ != type_)
    fail<ValueError>("optimizer", concatenate_text("the state of ", type_),
                     concatenate_text("that of ", loaded_type_));
  check_at_least(type_ + ": step", steps_, std::int64_t{0});
  check_finite_non_negative<T>("learning rate", learning_rate_);
}

template <class T>
void Optimizer<T>::add_tensors(std::string name) {
  std::vector<Tensor<T>> zeros;
  for (const auto& [parameter_name, parameter] : parameters())
    zeros.emplace_back(parameter->shape());
  tensors_.push_back({std::move(name), std::move(zeros)});
}

template <class T>
std::string Optimizer<T>::decay_description(double weight_decay,
                                            const std::vector<bool>& decays) const {
  Index tensors = 0, numbers = 0;
  for (std::size_t i = 0; i < decays.size(); ++i)
    if (decays[i]) {
      ++tensors;
      numbers += parameters()[i].parameter->size();
    }
  const auto count = [](Index parameters, Index in_tensors) {
    return concatenate_text(parameters, " parameters in ", in_tensors,
                            in_tensors == 1 ? " tensor" : " tensors");
  };
  return concatenate_text(
      "weight decay ", weight_decay, " on ", count(numbers, tensors), ", none on ",
      count(elements_.size() - numbers, static_cast<Index>(decays.size()) - tensors));
}

template <class T>
void Optimizer<T>::check_not_negative(std::size_t number) const {
  const auto& [name, tensors] = tensors_[number];
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const std::span<const T> values = tensors[i].values();
    const auto bad =
        std::find_if(values.begin(), values.end(), [](T value) { return !(value >= T{0}); });
    if (bad != values.end())
      fail<ValueError>(
          concatenate_text(type_, ": ", name, " of ", parameters()[i].name), "values ≥ 0",
          concatenate_text(*bad, " at ", tensors[i].shape().position(bad - values.begin())));
  }
}

template class Optimizer<float>;
template class Optimizer<double>;

}  // namespace weft
