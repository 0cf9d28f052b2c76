// Optimizer: the base class of optimizers, which update a model's parameters from their gradients.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/layers/module.hpp"
#include "weft/train/optim/parameter_elements.hpp"
#include "weft/train/optim/parameter_group.hpp"
#include "weft/train/weights/state.hpp"

namespace weft {

// The elements that an optimizer updates, and their state.
template <class T>
struct OptimizerSlices {
  ElementSequence sequence;  // the elements
  // state[n][i] is the state of slice i in the n-th kind of state tensors (see
  // Optimizer::add_tensors). Missing tensors count as zeros.
  std::vector<std::vector<Tensor<T>>> state = {};
};

// Base class of optimizers, which update a model's parameters from their gradients.
//
// The parameters must keep their shapes. The model may be moved. After a parameter was removed or
// replaced, for example by `merge_lora`, every function that uses the parameters throws Error,
// naming the parameter: create a new optimizer. A parameter that was passed several times is
// updated once.
//
// The optimizer does not clear the gradients of parameters that were not passed to it, so they keep
// accumulating; zero_grad(model) clears all gradients.
template <class T = float>
class WEFT_API Optimizer : public Stateful<T> {
 public:
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;
  Optimizer(Optimizer&&) noexcept = default;
  Optimizer& operator=(Optimizer&&) noexcept = default;

  // Updates every parameter that has a gradient, in one parallel pass without heap allocation, and
  // clears the gradients. Gradients are multiplied by `gradient_scale` (see `clip_factor`). A
  // parameter without a gradient keeps its values, its state and its own count of steps, as in
  // torch.optim. Throws NonFiniteError if `gradient_scale` is not finite, ValueError if it is
  // negative, and ShapeError if a parameter was assigned a value of a different shape; the
  // parameters are then unchanged.
  void step(double gradient_scale = 1.0);
  // Clears the gradients of the optimizer's parameters.
  void zero_grad();
  // Returns the Euclidean norm of all gradients together; see weft::grad_norm. The result is
  // bitwise identical for any number of threads.
  double grad_norm() const;

  // Returns the option `lr`, or the rate set by `set_learning_rate` before the first step.
  double initial_learning_rate() const { return initial_learning_rate_; }
  // Returns the learning rate of the next step. Checkpoints store it relative to the initial rate:
  // an optimizer that loads a checkpoint but has twice the initial rate continues with twice the
  // stored rate.
  double learning_rate() const;
  // Sets the rate from the next step on. Before the first step, also sets the initial rate. Throws
  // ValueError for a rate that is negative or not finite.
  void set_learning_rate(double learning_rate);
  // Sets the rate from the next step on and keeps the initial rate. Used by schedules. Throws
  // ValueError for a rate that is negative or not finite.
  void schedule_learning_rate(double learning_rate);
  // Returns the number of updates, including updates in which some parameters had no gradient.
  std::int64_t steps() const { return steps_; }
  // Returns the parameters that the optimizer updates, each once.
  const NamedParameters<T>& parameters() const { return elements_.parameters(); }
  // Returns the elements of these parameters.
  const ParameterElements<T>& elements() const { return elements_; }

  // Returns one line with the type, its options including `initial_learning_rate()`, and the
  // numbers of parameters with weight decay, without weight decay, and in each group.
  std::string description() const;

  // Throws Error if `set_slices` has limited the optimizer to some elements.
  void state(State<T>& state) override;
  void check_state() const override;
  bool is_new_since_0_2(const std::string& name) const override {
    return name == "initial_learning_rate";
  }

  // Returns the elements that `step` updates. Initially all elements, one slice per parameter.
  const OptimizerSlices<T>& slices() const { return slices_; }
  // Whether `slices` are all elements, as initially.
  bool is_whole() const { return slices_.sequence.slices() == elements_.sequence().slices(); }
  // Limits `step` to `slices`, so that several processes can divide an optimizer's work and state.
  // If called before the first step, the whole state is never allocated. Throws ValueError for
  // elements that the parameters do not have, and for a part of an undivided parameter.
  void set_slices(OptimizerSlices<T> slices);
  // Returns the shape of the n-th kind of state of a slice: the parameter's shape if the slice is
  // the whole parameter, [0] if the parameter has no such state, and otherwise one axis.
  Shape state_shape(std::size_t number, const ElementSlice& slice) const;

 protected:
  // `type` is the name of the optimizer in messages and checkpoints, and `options` describes its
  // additional options. `decays` selects the parameters with weight decay, all if not set; a group
  // with a weight decay overrides it for its parameters. Throws ValueError for a rate, factor or
  // decay that is negative or not finite, and for a group that selects no parameters.
  // `is_undivided` selects the parameters that `update_undivided` updates, none if not set.
  Optimizer(
      std::string type, std::string options, NamedParameters<T> parameters, double learning_rate,
      double weight_decay, const ParameterGroups& groups,
      const std::function<bool(const std::string& name, const Shape& shape)>& decays = {},
      const std::function<bool(const std::string& name, const Shape& shape)>& is_undivided = {});

  // Returns the learning rate of parameter `index`.
  double learning_rate(std::size_t index) const {
    return learning_rate_ * settings_[index].lr_factor;
  }
  // Returns the number of updates in which parameter `index` had a gradient, as in torch.optim.
  std::int64_t steps(std::size_t index) const {
    return steps_ - std::as_const(missed_steps_).data()[index];
  }
  // Returns the weight decay of parameter `index`.
  double weight_decay(std::size_t index) const { return settings_[index].weight_decay; }
  // Multiplies the learning rate of parameter `index` by a factor ≥ 0.
  void scale_learning_rate(std::size_t index, double factor) {
    settings_[index].lr_factor *= factor;
  }

  // Updates `size` consecutive elements of parameter `index`: `values` and `state` from `grad`,
  // which must be multiplied by `scale`. `state[n]` points to the elements' state of the n-th kind
  // (see `add_tensors`). Called concurrently; `steps(index)` already includes the current step.
  virtual void update(std::size_t index, Index size, T* values, const T* grad, T* const* state,
                      T scale) = 0;
  // Updates the whole undivided parameter `index` likewise. May be called concurrently.
  virtual void update_undivided(std::size_t /*index*/, T* /*values*/, const T* /*grad*/,
                                T* const* /*state*/, T /*scale*/) {}

  const std::string& type() const { return type_; }  // the name of the optimizer
  // Adds one kind of state: a tensor of zeros for each parameter, saved as
  // "<name>.<parameter name>". Kinds are numbered from 0 in the order of the calls. If
  // `non_negative` is set, `check_state` throws ValueError, naming the parameter, unless all
  // elements are ≥ 0. Undivided parameters have no such state if `only_divided` is set. Throws
  // Error for a ninth kind.
  void add_tensors(std::string name, bool non_negative = false, bool only_divided = false);
  // Returns the number of kinds of state, added by `add_tensors`.
  std::size_t tensors() const { return states_.size(); }

 private:
  static constexpr std::size_t most_tensors = 8;

  // The settings of a parameter.
  struct Settings {
    std::size_t group = 0;  // number of its group, from 1; 0 if it belongs to no group
    double lr_factor = 1.0;
    double weight_decay = 0.0;
  };

  // A kind of state tensors; see `add_tensors`.
  struct StateKind {
    std::string name;
    bool non_negative;
    bool only_divided;
  };

  // "weight decay 0.1 on 9216 parameters in 3 tensors, none on 96 parameters in 1 tensor", and for
  // each group "lr × 0.1 and weight decay 0 on 96 parameters in 1 tensor".
  std::string settings_description() const;
  // Whether a parameter has the n-th kind of state.
  bool has_state(std::size_t number, std::size_t parameter) const {
    return !states_[number].only_divided || !elements_.is_undivided(parameter);
  }
  void add_missing_state();
  void prepare_state();
  void count_missed_steps();
  void update_elements(Index first, Index last, T scale);
  void update_all_undivided(T scale);
  std::array<T*, most_tensors> state_of(std::size_t slice, Index begin);

  std::string type_;
  std::string loaded_type_;
  std::string options_text_;
  ParameterElements<T> elements_;
  std::vector<Settings> settings_;  // one for each parameter
  std::vector<StateKind> states_;
  OptimizerSlices<T> slices_;
  double initial_learning_rate_;
  // The rate of the next step, to be scaled by initial_learning_rate_ / base_learning_rate_, which
  // differ after a checkpoint with another initial rate was loaded.
  double learning_rate_ = initial_learning_rate_;
  double base_learning_rate_ = initial_learning_rate_;
  double weight_decay_;
  std::int64_t steps_ = 0;
  std::vector<std::size_t> undivided_slices_;  // the undivided slices that a step updates
  Tensor<std::int32_t> missed_steps_;  // for each parameter, the steps in which it had no gradient
};

// Returns parameters of any shapes with their numbers, from 0, as names.
template <class T = float>
NamedParameters<T> numbered(std::span<Parameter<T>* const> parameters) {
  NamedParameters<T> named;
  for (Parameter<T>* const parameter : parameters)
    named.push_back({str_cat(named.size()), parameter});
  return named;
}

extern template class Optimizer<float>;
extern template class Optimizer<double>;

}  // namespace weft
