// Optimizer: the base class of optimizers, which update a model's parameters from their gradients.
#pragma once

#include <cstdint>
#include <string>

#include "weft/autograd/export.hpp"
#include "weft/layers/module.hpp"
#include "weft/train/optim/parameter_elements.hpp"
#include "weft/train/weights/state.hpp"

namespace weft {

// The model must outlive the optimizer and must not be moved.
template <class T = float>
class WEFT_API Optimizer : public Stateful<T> {
 public:
  // Updates every parameter that has a gradient, in one parallel pass without heap allocation;
  // gradients are multiplied by `gradient_scale` (see `clip_factor`). Clears the gradients. Throws
  // ValueError for a scale that is negative or not finite.
  void step(double gradient_scale = 1.0);
  // Clears the gradients.
  void zero_grad();
  // The Euclidean norm of all gradients together. Bitwise identical for any number of threads. Not
  // finite when a gradient is not.
  double grad_norm() const;

  double learning_rate() const { return learning_rate_; }
  // Throws ValueError for a rate that is negative or not finite.
  void set_learning_rate(double learning_rate);
  // The number of updates.
  std::int64_t steps() const { return steps_; }
  const NamedParameters<T>& parameters() const { return elements_.parameters(); }

  // One line: the type, its options, and the numbers of parameters with and without weight decay.
  virtual std::string description() const = 0;

  void state(State<T>& state) override;
  void check_state() const override;

 protected:
  // `type` is the name of the optimizer in messages and checkpoints.
  Optimizer(std::string type, NamedParameters<T> parameters, double learning_rate);

  // Updates elements begin … end of parameter `index`, whose gradient is `grad`. Called
  // concurrently; `steps()` already includes the current step.
  virtual void update(std::size_t index, Index begin, Index end, const T* grad, T scale) = 0;

  const std::string& type() const { return type_; }
  // Zero tensors of the shape of each parameter.
  std::vector<Tensor<T>> zeros_like_parameters() const;
  // "weight decay 0.1 on 9216 parameters in 3 tensors, none on 96 parameters in 1 tensor"
  std::string decay_description(double weight_decay, const std::vector<bool>& decays) const;
  // Registers `tensors`, one per parameter, as "name.<parameter's name>".
  void tensor_state(State<T>& state, const std::string& name, std::vector<Tensor<T>>& tensors);

 private:
  std::string type_;
  std::string loaded_type_;
  ParameterElements<T> elements_;
  double learning_rate_;
  std::int64_t steps_ = 0;
};

extern template class Optimizer<float>;
extern template class Optimizer<double>;

}  // namespace weft
