// Pass: the running pass of a tape, as operations see it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "weft/autograd/gradient.hpp"
#include "weft/autograd/random.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

class Arena;

// Where backward adds the gradients of parameters, when not to the parameters themselves.
template <class T>
class WEFT_API GradientTarget {
 public:
  virtual ~GradientTarget() = default;
  // The pass uses a parameter: the sum that backward adds the gradient of this use to.
  virtual GradientSum<T>& use(const Parameter<T>& parameter) = 0;
  // Backward has passed a use, and adds nothing more for it. Of each use in a part that is computed
  // again (see `recompute`) one is never passed.
  virtual void passed(const Parameter<T>& parameter) = 0;
};

// What operations are recorded on, and what their backward functions get gradients from.
template <class T>
class WEFT_API Pass {
 public:
  Pass(Tape<T>& tape, const TapeOptions& options);
  ~Pass();
  Pass(const Pass&) = delete;
  Pass& operator=(const Pass&) = delete;

  const TapeOptions& options() const { return options_; }
  bool training() const { return options_.training; }
  bool recording() const { return options_.recording; }
  Precision precision() const { return options_.precision; }

  // Uninitialized elements, and zeros, in memory of the tape.
  template <class U = T>
  Tensor<U> uninitialized(const Shape& shape) const {
    return Tensor<U>::uninitialized(shape, pool_);
  }
  Tensor<T> zeros(const Shape& shape) const;
  // What backward uses as indices and forward has checked, such as tokens: a copy that nobody has a
  // pointer to, in memory of the tape; the tensor itself when the pass does not record.
  template <class U>
  Tensor<U> keep(const Tensor<U>& indices) const {
    if (!options_.recording) return indices;
    Tensor<U> own = uninitialized<U>(indices.shape());
    std::copy(indices.begin(), indices.end(), own.begin());
    return own;
  }

  // The result of an operation. When one of `inputs` needs a gradient, keeps `backward`, which is
  // called as backward(pass, dy) with the gradient dy of `value` and adds to the gradients of the
  // inputs.
  template <class Backward>
  Var<T> record(const char* operation, Tensor<T> value, std::initializer_list<NodeId> inputs,
                Backward backward) {
    return record(operation, std::move(value), std::span(inputs.begin(), inputs.size()),
                  std::move(backward));
  }
  // The same for a list of inputs whose length is known at run time.
  template <class Backward>
  Var<T> record(const char* operation, Tensor<T> value, std::span<const NodeId> inputs,
                Backward backward) {
    return needs_gradient(inputs) ? record_always(operation, std::move(value), std::move(backward))
                                  : result(operation, std::move(value));
  }
  // The same for an operation that needs its gradient whatever its inputs are.
  template <class Backward>
  Var<T> record_always(const char* operation, Tensor<T> value, Backward backward) {
    static_assert(alignof(Backward) <= alignof(std::max_align_t));
    if (options_.detect_anomaly) check_value(operation, value);
    void* closure = new (allocate_closure(sizeof(Backward))) Backward(std::move(backward));
    return push({.operation = operation, .invoke = &call_backward<Backward>, .closure = closure},
                std::move(value));
  }
  // A value that needs no gradient.
  Var<T> constant(Tensor<T> value) { return Var<T>(tape_, std::move(value), no_node, number_); }

  // Within a backward function: where to add the gradient of an input; not wanted for `no_node`.
  Gradient<T> gradient(NodeId node);
  // Adds `dy` unchanged. The first addition copies nothing: the elements are shared until something
  // is added to them.
  void add_gradient(NodeId node, const Tensor<T>& dy);

  // For Tape::take_intermediates.
  bool keeps_intermediates() const { return options_.keep_intermediates; }
  void keep_intermediate(Tensor<T> value) { intermediates_.push_back(std::move(value)); }

  // Random numbers for the next operation of this pass that needs any.
  RandomStream next_random_stream() { return {options_.seed, step_, streams_++}; }
  // How many streams this pass has used.
  std::uint32_t random_streams() const { return streams_; }
  void set_random_streams(std::uint32_t streams) { streams_ = streams; }

  // An empty tape for computing a part of this pass again: with the same options and the random
  // numbers that follow the first `streams` streams. Always the same tape.
  Tape<T>& replay(std::uint32_t streams);

  // Null for the parameters themselves. For the following uses of parameters.
  void set_gradient_target(GradientTarget<T>* target) { target_ = target; }

 private:
  friend class Var<T>;
  friend class Tape<T>;

  enum class Action { run, run_and_destroy, destroy };
  using Invoke = void (*)(void* closure, Pass& pass, const Tensor<T>* dy, Action action);

  struct Node {
    const char* operation;
    Shape shape = {};
    Tensor<T> gradient = {};
    const Parameter<T>* parameter = nullptr;  // null but for parameters
    GradientSum<T>* parameter_sum = nullptr;  // where the gradient of a parameter is added
    Invoke invoke = nullptr;
    void* closure = nullptr;   // null for parameters and variables
    bool is_returned = false;  // the gradient, by `gradients`

    bool has_gradient() const { return gradient.data() != nullptr; }
  };

  // Whatever happens in backward, the pass ends then, or is made ready for another one.
  struct Finish {
    Pass* pass;
    const BackwardOptions& options;
    ~Finish();
  };

  template <class Backward>
  static void call_backward(void* closure, Pass& pass, const Tensor<T>* dy, Action action) {
    auto* backward = static_cast<Backward*>(closure);
    struct Destroy {
      Backward* object;
      ~Destroy() {
        if (object) object->~Backward();
      }
    } const destroy{action == Action::run ? nullptr : backward};
    if (action != Action::destroy) (*backward)(pass, *dy);
  }

  bool needs_gradient(std::span<const NodeId> inputs) const;
  Var<T> result(const char* operation, Tensor<T> value);
  void* allocate_closure(std::size_t bytes);
  Var<T> push(Node node, Tensor<T> value);
  void check_value(const char* operation, const Tensor<T>& value) const;
  void check_gradients(const char* operation);

  Var<T> parameter(const Parameter<T>& parameter);
  Var<T> variable(Tensor<T> value);
  // Where backward adds a node's gradient: a parameter's sum, or null for the node itself.
  GradientSum<T>* sum_of(const Node& node) const {
    return to_parameters_ ? node.parameter_sum : nullptr;
  }
  void check_backward(const Var<T>& y, const Tensor<T>& upstream) const;
  void backward(const Var<T>& y, const Tensor<T>& upstream, const BackwardOptions& options);
  std::vector<Tensor<T>> gradients(const Var<T>& y, const Tensor<T>& upstream,
                                   const std::vector<Var<T>>& inputs,
                                   const BackwardOptions& options);
  void run_backward(const Var<T>& y, const Tensor<T>& upstream, const BackwardOptions& options);
  Node& node_of(const Var<T>& x) { return nodes_[static_cast<std::size_t>(x.node())]; }
  void end();

  Tape<T>& tape_;
  TapeOptions options_;
  Pool* pool_;
  std::unique_ptr<Arena> arena_;  // of the backward functions
  std::vector<Node> nodes_;
  std::vector<NodeId> touched_;  // nodes that the running backward function added to
  std::vector<Tensor<T>> intermediates_;
  GradientTarget<T>* target_ = nullptr;
  bool to_parameters_ = true;  // false while `gradients` runs
  std::uint32_t number_ = 0;   // of the pass, to recognize variables of earlier ones
  std::uint32_t step_ = 0;
  std::uint32_t streams_ = 0;
  std::unique_ptr<Tape<T>> replay_;
};

extern template class Pass<float>;
extern template class Pass<double>;

}  // namespace weft
