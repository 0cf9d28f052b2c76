// Optimizer: the base class of optimizers, which update a model's parameters from their gradients.
#pragma once

#include <cstdint>
#include <functional>
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
  ElementSequence sequence;  // which elements
  // state[number][i]: of slice i, in the state tensors `number` (see Optimizer::add_tensors). Where
  // there is none yet, zeros.
  std::vector<std::vector<Tensor<T>>> state = {};
};

// Updates a model's parameters from their gradients. The parameters must keep their shapes. The
// model may be moved: the optimizer follows its parameters. After a parameter was removed or
// replaced (by `merge_lora`, for instance), every function that uses the parameters throws Error,
// naming it: make a new optimizer then. A parameter that is given several times is updated once.
// Parameters of the model that the optimizer was not given keep adding up gradients:
// `zero_grad(model)` clears them too. Not copyable: two optimizers would step the same parameters.
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
  // ShapeError when a parameter was assigned one of another shape; nothing is updated then. A
  // parameter without a gradient keeps its values, its state and its own count of steps, as in
  // torch.optim.
  void step(double gradient_scale = 1.0);
  // Clears the gradients of the optimizer's parameters.
  void zero_grad();
  // The Euclidean norm of all gradients together. Bitwise identical for any number of threads. Not
  // finite when a gradient is not.
  double grad_norm() const;

  // The option `lr`, or the rate set before the first step.
  double initial_learning_rate() const { return initial_learning_rate_; }
  // The learning rate of the next step. A checkpoint contains it relative to the initial rate: an
  // optimizer with twice the initial rate of the one that was saved continues with twice its rate.
  double learning_rate() const;
  // Sets the rate from the next step on and, before the first step, the initial rate. Throws
  // ValueError for a rate that is negative or not finite.
  void set_learning_rate(double learning_rate);
  // Sets the rate from the next step on, as a schedule does; the initial rate remains. Throws the
  // same exceptions as `set_learning_rate`.
  void schedule_learning_rate(double learning_rate);
  // The number of updates, also of those in which some parameters had no gradient.
  std::int64_t steps() const { return steps_; }
  // The parameters that it was given, each once.
  const NamedParameters<T>& parameters() const { return elements_.parameters(); }

  // One line: the type, its options with `initial_learning_rate()`, the numbers of parameters with
  // and without weight decay, and those of each group.
  std::string description() const;

  // Throws Error unless it updates all elements.
  void state(State<T>& state) override;
  void check_state() const override;
  bool is_new_since_0_2(const std::string& name) const override {
    return name == "initial_learning_rate";
  }

  // At first all elements, each parameter one slice.
  const OptimizerSlices<T>& slices() const { return slices_; }
  // Whether `slices` are all elements, as at first.
  bool is_whole() const { return slices_.sequence.slices() == elements_.sequence().slices(); }
  // From here on, `step` updates only these. For processes that divide an optimizer's work and
  // state; one that is divided before its first step never takes memory for the whole state.
  void set_slices(OptimizerSlices<T> slices);

 protected:
  // `type` is the name of the optimizer in messages and checkpoints, `options` describes those that
  // only it has; `decays`, when given, selects the parameters with weight decay among those of no
  // group that has its own. Throws ValueError for a rate, factor or decay that is negative or not
  // finite, and for a group that selects none.
  Optimizer(std::string type, std::string options, NamedParameters<T> parameters,
            double learning_rate, double weight_decay, const ParameterGroups& groups,
            const std::function<bool(const std::string& name, const Shape& shape)>& decays = {});

  // The learning rate of parameter `index`.
  double learning_rate(std::size_t index) const {
    return learning_rate_ * settings_[index].lr_factor;
  }
  // The number of updates of parameter `index`: updates without a gradient of it do not count, as
  // in torch.optim.
  std::int64_t steps(std::size_t index) const {
    return steps_ - std::as_const(missed_steps_).data()[index];
  }
  // The weight decay of parameter `index`.
  double weight_decay(std::size_t index) const { return settings_[index].weight_decay; }

  // Updates `size` consecutive elements of parameter `index`: their values, from their gradients
  // and from their state, of which `state[number]` are the elements in the state tensors `number`.
  // Called concurrently; `steps(index)` already includes the current step.
  virtual void update(std::size_t index, Index size, T* values, const T* grad, T* const* state,
                      T scale) = 0;

  const std::string& type() const { return type_; }  // the name of the optimizer
  // Adds a tensor of zeros for each parameter to the optimizer's state. Numbered in the order of
  // the calls, from 0, and saved as "name.<parameter's name>". With a `non_negative` one,
  // `check_state` throws ValueError, naming the parameter, unless all elements are ≥ 0. Throws
  // Error after the eighth.
  void add_tensors(std::string name, bool non_negative = false);
  // How often `add_tensors` was called.
  std::size_t tensors() const { return states_.size(); }

 private:
  static constexpr std::size_t most_tensors = 8;

  // Of a parameter.
  struct Settings {
    std::size_t group = 0;  // 0: none
    double lr_factor = 1.0;
    double weight_decay = 0.0;
  };

  // Of state tensors.
  struct StateKind {
    std::string name;
    bool non_negative;
  };

  // "weight decay 0.1 on 9216 parameters in 3 tensors, none on 96 parameters in 1 tensor", and for
  // each group "lr × 0.1 and weight decay 0 on 96 parameters in 1 tensor".
  std::string settings_description() const;
  Shape state_shape(const ElementSlice& slice) const;
  void add_missing_state();
  void prepare_state();
  void count_missed_steps();
  void update_elements(Index first, Index last, T scale);

  std::string type_;
  std::string loaded_type_;
  std::string options_text_;
  ParameterElements<T> elements_;
  std::vector<Settings> settings_;  // of each parameter
  std::vector<StateKind> states_;
  OptimizerSlices<T> slices_;
  double initial_learning_rate_;
  // The rate of the next step, relative to `base_learning_rate_`, which a checkpoint may change.
  double learning_rate_ = initial_learning_rate_;
  double base_learning_rate_ = initial_learning_rate_;
  double weight_decay_;
  std::int64_t steps_ = 0;
  Tensor<std::int32_t> missed_steps_;  // of each parameter: those without a gradient
};

extern template class Optimizer<float>;
extern template class Optimizer<double>;

}  // namespace weft
