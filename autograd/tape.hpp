// Tape and Var: what a pass computes is recorded in order and walked backwards for gradients.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "weft/autograd/error.hpp"
#include "weft/autograd/parameter.hpp"
#include "weft/autograd/random.hpp"
#include "weft/autograd/tensor.hpp"
#include "autograd/runtime/arena.hpp"

namespace weft {

template <class T>
class Tape;

// The position of a record on its tape; `no_node` for a value that needs no gradient.
using NodeId = std::int32_t;
constexpr NodeId no_node = -1;

// A value computed on a tape. Cheap to copy; its elements are shared. Valid as an input until the
// tape's pass ends; its value stays readable after that.
template <class T = float>
class Var {
 public:
  const Tensor<T>& value() const& { return value_; }
  Tensor<T> value() && { return std::move(value_); }
  const Shape& shape() const { return value_.shape(); }
  Index rank() const { return value_.rank(); }
  Index size() const { return value_.size(); }
  // The only element. Throws ShapeError when there is not exactly one.
  T item() const { return value_.item(); }
  Tape<T>& tape() const { return *tape_; }
  // The record that computed the value. Throws Error when the tape has ended that pass.
  NodeId node() const;

 private:
  friend class Tape<T>;
  Var(Tape<T>& tape, Tensor<T> value, NodeId node, std::uint32_t pass)
      : value_(std::move(value)), tape_(&tape), node_(node), pass_(pass) {}

  Tensor<T> value_;
  Tape<T>* tape_;
  NodeId node_;
  std::uint32_t pass_;
};

// Where an operation's backward adds a gradient. False when none is wanted. When `fresh`, nothing
// was added yet: `values` hold anything, and the first write must cover all of them and overwrite.
template <class T>
struct Gradient {
  std::span<T> values;
  bool wanted = false;
  bool fresh = false;

  explicit operator bool() const { return wanted; }
  T* data() const { return values.data(); }
  // What a matrix product multiplies the old values with: 0 when fresh.
  T beta() const { return fresh ? T{0} : T{1}; }
  // For a backward that adds here and there: makes fresh values zeros.
  Gradient& zero_if_fresh() {
    if (fresh) std::fill(values.begin(), values.end(), T{0});
    fresh = false;
    return *this;
  }
};

struct TapeOptions {
  // Dropout on or off, and whatever else differs between training and evaluation.
  bool training = false;
  // Whether operations are recorded for `backward`.
  bool recording = true;
  // The random numbers of the pass (dropout masks) depend on the seed and the step.
  std::uint64_t seed = 0;
  // Checks every value and every gradient, and throws NonFiniteError at the first NaN or infinity,
  // naming its operation. Slow; for finding out where one came from.
  bool detect_anomaly = false;
  // Which of the parameters' sums of gradients `backward` adds to; see Parameter::grad.
  Index part = 0;
};

// Owns one pass at a time: what was recorded, the memory it uses, whether it trains, its random
// numbers. Two threads may use two tapes at once.
template <class T = float>
class Tape {
 public:
  Tape() : Tape(TapeOptions{}) {}
  Tape(const TapeOptions& options) : options_(options), pool_(Pool::create()) {}
  ~Tape();
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  // A tape that records nothing, dropout off.
  static Tape inference() { return Tape(TapeOptions{.training = false, .recording = false}); }

  const TapeOptions& options() const { return options_; }
  bool training() const { return options_.training; }
  bool recording() const { return options_.recording; }

  // The step that random numbers depend on, beside the seed. `backward` and `clear` add 1.
  std::uint32_t step() const { return step_; }
  void set_step(std::uint32_t step) { step_ = step; }

  // A value that needs no gradient.
  Var<T> constant(Tensor<T> value) { return Var<T>(*this, std::move(value), no_node, pass_); }
  // A parameter's value; `backward` adds to the parameter's gradient, in place. The parameter must
  // outlive the pass.
  Var<T> parameter(const Parameter<T>& parameter);

  // Adds d loss / d parameter to the gradient of every parameter that `loss` depends on, then
  // clears the tape for the next pass. Throws ShapeError unless the loss has one element, Error
  // when it is of another tape or pass or was not recorded.
  void backward(const Var<T>& loss);
  // The same for y of any shape, from the gradient `upstream` of the same shape.
  void backward(const Var<T>& y, const Tensor<T>& upstream);
  // Ends the pass without gradients.
  void clear();

  // --- For writing operations --------------------------------------------------------------

  // Uninitialized elements from the tape's pool.
  Tensor<T> uninitialized(const Shape& shape) const {
    return Tensor<T>::uninitialized(shape, pool_);
  }
  Tensor<T> zeros(const Shape& shape) const {
    Tensor<T> tensor = uninitialized(shape);
    tensor.fill(T{0});
    return tensor;
  }

  // The result of an operation. When one of `inputs` needs a gradient, keeps `backward`, which is
  // called as backward(tape, dy) with the gradient of `value` and adds to its inputs' gradients.
  template <class Backward>
  Var<T> record(const char* operation, Tensor<T> value, std::initializer_list<NodeId> inputs,
                Backward backward);
  // The same for a list of inputs whose length is known at run time.
  template <class Backward>
  Var<T> record(const char* operation, Tensor<T> value, std::span<const NodeId> inputs,
                Backward backward);

  // The result of something that needs its gradient whatever its inputs do.
  template <class Backward>
  Var<T> record_always(const char* operation, Tensor<T> value, Backward backward);

  // Where the gradient of a node is added; not wanted for `no_node`. Only within a backward.
  Gradient<T> gradient(NodeId node);
  // Adds `dy` as it is. Costs nothing when it is the first contribution: the buffer is shared
  // until somebody else adds to it.
  void add_gradient(NodeId node, const Tensor<T>& dy);

  // Random numbers for the next operation of this pass that draws any.
  RandomStream next_random_stream() { return {options_.seed, step_, streams_++}; }
  // How many were given out in this pass.
  std::uint32_t random_streams() const { return streams_; }
  void set_random_streams(std::uint32_t streams) { streams_ = streams; }

  // A tape, empty, for computing a part of this pass once more: with the same options and the
  // random numbers that follow after `streams` streams. Always the same one.
  Tape& replay(std::uint32_t streams);

  Pool::Statistics memory() const { return pool_->statistics(); }
  std::uint32_t pass() const { return pass_; }

 private:
  enum class Action { run_and_destroy, destroy };
  using Invoke = void (*)(void* closure, Tape& tape, const Tensor<T>* dy, Action action);

  struct Node {
    const char* operation;
    Shape shape;
    Tensor<T> gradient;
    const Parameter<T>* parameter;
    Invoke invoke;
    void* closure;
  };

  template <class Backward>
  static void call_backward(void* closure, Tape& tape, const Tensor<T>* dy, Action action) {
    auto* backward = static_cast<Backward*>(closure);
    struct Destroy {
      Backward* object;
      ~Destroy() { object->~Backward(); }
    } const destroy{backward};
    if (action == Action::run_and_destroy) (*backward)(tape, *dy);
  }

  void push(const char* operation, const Shape& shape, const Parameter<T>* parameter, Invoke invoke,
            void* closure);
  void check_value(const char* operation, const Tensor<T>& value) const;
  void check_gradients(const char* operation);
  void end_pass();

  TapeOptions options_;
  Pool* pool_;
  Arena arena_;
  std::vector<Node> nodes_;
  std::vector<NodeId> touched_;  // nodes that the running backward added to; kept for anomalies
  std::uint32_t pass_ = 0;
  std::uint32_t step_ = 0;
  std::uint32_t streams_ = 0;
  std::unique_ptr<Tape> replay_;
};

template <class T>
NodeId Var<T>::node() const {
  if (node_ != no_node && pass_ != tape_->pass())
    throw Error(
        "variable: expected one of the tape's present pass, got one of a pass that has ended");
  return node_;
}

template <class T>
template <class Backward>
Var<T> Tape<T>::record(const char* operation, Tensor<T> value, std::initializer_list<NodeId> inputs,
                       Backward backward) {
  return record(operation, std::move(value), std::span(inputs.begin(), inputs.size()),
                std::move(backward));
}

template <class T>
template <class Backward>
Var<T> Tape<T>::record(const char* operation, Tensor<T> value, std::span<const NodeId> inputs,
                       Backward backward) {
  bool wanted = false;
  for (NodeId input : inputs) wanted |= input != no_node;
  if (wanted && options_.recording)
    return record_always(operation, std::move(value), std::move(backward));
  if (options_.detect_anomaly) check_value(operation, value);
  return constant(std::move(value));
}

template <class T>
template <class Backward>
Var<T> Tape<T>::record_always(const char* operation, Tensor<T> value, Backward backward) {
  static_assert(alignof(Backward) <= alignof(std::max_align_t));
  if (options_.detect_anomaly) check_value(operation, value);
  void* closure = new (arena_.allocate(sizeof(Backward))) Backward(std::move(backward));
  push(operation, value.shape(), nullptr, &call_backward<Backward>, closure);
  return Var<T>(*this, std::move(value), static_cast<NodeId>(nodes_.size()) - 1, pass_);
}

// The tape that all the variables share. Throws Error when they lie on different tapes.
template <class T, class... Vars>
Tape<T>& common_tape(const char* operation, const Var<T>& first, const Vars&... others) {
  if (((&others.tape() != &first.tape()) || ...))
    throw Error(concatenate_text(operation, ": expected inputs of one tape, got inputs of two"));
  return first.tape();
}

extern template class Tape<float>;
extern template class Tape<double>;

}  // namespace weft
