// Optimizer: the base class of optimizers, which update a model's parameters from their gradients.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/layers/module.hpp"
#include "weft/train/optim/parameter_elements.hpp"
#include "weft/train/weights/state.hpp"

namespace weft {

// The model must outlive the optimizer and must not be moved, and its parameters must keep their
// shapes. A parameter that is given several times is updated once. Parameters of the model that the
// optimizer was not given keep adding up gradients: `zero_grad(model)` clears them too. Not
// copyable: two optimizers would step the same parameters.
template <class T = float>
class WEFT_API Optimizer : public Stateful<T> {
 public:
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;
  Optimizer(Optimizer&&) noexcept = default;
  Optimizer& operator=(Optimizer&&) noexcept = default;

  // Updates every parameter that has a gradient, in one parallel pass without heap allocation;
  // gradients are multiplied by `gradient_scale` (see `clip_factor`). Clears the gradients. Throws
  // NonFiniteError for a scale that is not finite, ValueError for one that is negative, and
  // ShapeError when a parameter was replaced by one of another shape; nothing is updated then.
  void step(double gradient_scale = 1.0);
  // Clears the gradients of the optimizer's parameters.
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
  // Adds a tensor of zeros for each parameter to the optimizer's state. Numbered in the order of
  // the calls, from 0, and saved as "name.<parameter's name>".
  void add_tensors(std::string name);
  // How often `add_tensors` was called.
  std::size_t tensors() const { return tensors_.size(); }
  // The tensor of parameter `index` in the state tensors `number`.
  Tensor<T>& tensor(std::size_t number, std::size_t index) { return tensors_[number].of[index]; }
  const Tensor<T>& tensor(std::size_t number, std::size_t index) const {
    return tensors_[number].of[index];
  }
  // The elements of parameter `index`.
  T* values(std::size_t index) { return parameters()[index].parameter->values().data(); }
  // "weight decay 0.1 on 9216 parameters in 3 tensors, none on 96 parameters in 1 tensor"
  std::string decay_description(double weight_decay, const std::vector<bool>& decays) const;
  // Throws ValueError, naming the parameter, unless all state tensors `number` are ≥ 0.
  void check_not_negative(std::size_t number) const;

 private:
  struct StateTensors {
    std::string name;
    std::vector<Tensor<T>> of;  // each parameter
  };

  void prepare_tensors();

  std::string type_;
  std::string loaded_type_;
  ParameterElements<T> elements_;
  std::vector<StateTensors> tensors_;
  double learning_rate_;
  std::int64_t steps_ = 0;
};

extern template class Optimizer<float>;
extern template class Optimizer<double>;

}  // namespace weft
