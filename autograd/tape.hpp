// Tape and Var: automatic differentiation. A tape records the operations of a pass in order, and
// backward visits them in reverse.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/autograd/gradient.hpp"
#include "weft/autograd/parameter.hpp"
#include "weft/autograd/precision.hpp"
#include "weft/autograd/random.hpp"
#include "weft/autograd/tape_observer.hpp"
#include "weft/autograd/tensor.hpp"

namespace weft {

template <class T>
class WEFT_API Tape;

// The index of a record in its pass; `no_node` for a value that needs no gradient.
using NodeId = std::int32_t;
inline constexpr NodeId no_node = -1;  // the id of a value that needs no gradient

// A value computed on a tape. Copying is cheap: copies share the elements. A Var can be used as an
// input until the tape's pass ends; its value remains readable afterwards.
//   Var x = tape.constant(X);   // X [2, 3]
//   Var y = 0.5f * (1 - x);     // y.value() [2, 3]
template <class T = float>
class WEFT_API Var {
 public:
  // Creates a constant from a tensor of any shape, to compute without gradients. It belongs to an
  // inference tape of the calling thread and can be used as an input on this thread only. Because
  // tensors convert to constants, layers also accept tensors; for operations, which are function
  // templates, write Var(X).
  //   const Tensor<float> y = model(X).value();  // X [2, 3]
  //   const float average = mean(Var(X)).item();
  template <class U = T>
  requires std::floating_point<U> Var(Tensor<T> value)
      : Var(Tape<U>::of_thread().constant(std::move(value))) {}

  const Tensor<T>& value() const& { return value_; }     // the elements, of shape()
  Tensor<T> value() && { return std::move(value_); }     // the elements, of shape()
  const Shape& shape() const { return value_.shape(); }  // the sizes of the axes
  Index rank() const { return value_.rank(); }           // the number of axes
  Index size() const { return value_.size(); }           // the number of elements
  // Returns the only element. Throws ShapeError unless there is exactly one.
  T item() const { return value_.item(); }
  Tape<T>& tape() const { return *tape_; }  // the tape that computed the value
  // Returns the record that computed the value, for writing operations (see operation.hpp). Throws
  // Error if its pass has ended.
  NodeId node() const;

 private:
  friend class Tape<T>;
  template <class U>
  friend std::ostream& operator<<(std::ostream& out, const Var<U>& x);
  Var(Tape<T>& tape, Tensor<T> value, NodeId node, std::uint32_t pass_number,
      const char* operation = nullptr)
      : value_(std::move(value)),
        tape_(&tape),
        node_(node),
        pass_number_(pass_number),
        operation_(operation) {}

  Tensor<T> value_;
  Tape<T>* tape_;
  NodeId node_;
  std::uint32_t pass_number_;
  const char* operation_;  // null for a value that needs no gradient
};

// Prints the elements, of any shape, in PyTorch's format, see operator<< of Tensor, and the
// recorded operation that computed them: "op=matmul" where PyTorch prints "grad_fn=<MmBackward0>".
template <class T>
WEFT_API std::ostream& operator<<(std::ostream& out, const Var<T>& x);

struct TapeOptions {
  // Enables dropout and everything else that differs between training and evaluation.
  bool training = false;
  // Whether operations are recorded for `backward`.
  bool recording = true;
  // Random numbers (dropout masks) depend on the seed and the step. A new tape starts at step 0, so
  // creating a tape for each training step would repeat the masks, unless `set_step` is called.
  std::uint64_t seed = 0;
  // Checks every value and gradient, and throws NonFiniteError at the first NaN, naming the
  // operation that produced it. An intermediate infinity is no error, because a program may mask
  // with -infinity. If an infinity reaches the loss, or the gradient of a parameter or variable,
  // `backward` throws NonFiniteError, naming the operation that produced it. Slow; for finding the
  // cause of a NaN.
  bool detect_anomaly = false;
  // Whether operations keep intermediate results for inspection: the weights of each attention, see
  // Tape::take_attention_weights.
  bool keep_attention_weights = false;
  // The precision of the inputs of matrix products, in forward and backward. It affects `linear`,
  // `matmul`, `einsum`, recurrent layers and attention, except attention over short sequences
  // (which uses no matrix products) and over a KeyValueCache. With bf16, the large products are
  // computed in bf16 if that is faster on this machine; see Precision. For Tape<double>, bf16 makes
  // the constructor of Tape throw ValueError.
  Precision precision = Precision::full;
  // If not null, is notified of every operation, forward and backward. Must outlive the tape.
  TapeObserver* observer = nullptr;
};

// Options of Tape::backward and Tape::gradients.
struct BackwardOptions {
  // Keeps the pass, so that gradients of several of its results can be computed (torch's
  // retain_graph).
  bool retain_graph = false;
};

// Records one pass at a time and owns its records, their memory, the training mode and the random
// numbers. Two threads may use two tapes at the same time.
//
// A pass lasts until `backward`, `gradients` or `clear` is called. Until then, a recording tape
// keeps the values that backward needs, so memory use grows with every forward pass that is not
// ended. Use `inference` for passes without gradients.
//   Tape tape({.training = true, .seed = 7});
//   Var y = linear(tape.constant(X), tape.parameter(model_weight));
//   tape.backward(mse_loss(y, tape.constant(Y)));
template <class T = float>
class WEFT_API Tape {
 public:
  Tape() : Tape(TapeOptions{}) {}  // a recording tape, with dropout off
  // Creates a tape with these options. Throws ValueError for the precision bf16 on a
  // Tape<double>.
  Tape(const TapeOptions& options);
  ~Tape();
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  // Returns a tape that records nothing, with dropout off. C++ requires the `<>` here, as only a
  // declaration can leave it out.
  //   Tape tape = Tape<>::inference();
  static Tape inference() { return Tape(TapeOptions{.training = false, .recording = false}); }

  const TapeOptions& options() const { return options_; }     // as passed to the constructor
  bool training() const { return options_.training; }         // see TapeOptions::training
  bool recording() const { return options_.recording; }       // see TapeOptions::recording
  Precision precision() const { return options_.precision; }  // see TapeOptions::precision

  // Returns the step. Random numbers depend on it and on the seed. The end of each pass adds 1.
  std::uint32_t step() const { return step_; }
  void set_step(std::uint32_t step) { step_ = step; }  // sets the step, to resume training

  // Returns `value`, of any shape, as a Var that needs no gradient.
  Var<T> constant(Tensor<T> value) { return Var<T>(*this, std::move(value), no_node, number_); }
  // Returns a parameter's value, in its shape, as a Var; `backward` then adds to the parameter's
  // gradient. The parameter may be moved during the pass. If it is removed or replaced, `backward`
  // throws Error.
  Var<T> parameter(const Parameter<T>& parameter);

  // Returns `value`, of any shape, as a Var whose gradient `gradients` can compute, for example an
  // input.
  Var<T> variable(Tensor<T> value);

  // Adds d loss / d parameter to the gradient of every parameter that `loss` depends on, then
  // clears the tape for the next pass. Throws ShapeError unless the loss has one element. Throws
  // Error if the loss belongs to another tape or pass, or was not recorded.
  void backward(const Var<T>& loss, const BackwardOptions& options = {});
  // Starts from a result y of any shape, given its gradient `upstream` of the same shape: adds to
  // the gradient of every parameter that y depends on, then clears the tape. Throws ShapeError if
  // the shapes differ, and Error if y belongs to another tape or pass, or was not recorded.
  void backward(const Var<T>& y, const Tensor<T>& upstream, const BackwardOptions& options = {});

  // Returns d loss / d x for each x of `inputs`, in the shape of x; zeros if the loss does not
  // depend on x (torch.autograd.grad). An input can be a `variable`, a parameter's Var (for this
  // use of the parameter only) or an intermediate result. The gradients of parameters do not
  // change. Ends the pass. Throws the same exceptions as `backward`, and Error for an input that is
  // a constant or belongs to another tape or pass.
  //   Var x = tape.variable(X);
  //   const Tensor<float> dx = tape.gradients(sum(x * x), {x})[0];  // 2 X
  std::vector<Tensor<T>> gradients(const Var<T>& loss, const std::vector<Var<T>>& inputs,
                                   const BackwardOptions& options = {});
  std::vector<Tensor<T>> gradients(const Var<T>& y, const Tensor<T>& upstream,
                                   const std::vector<Var<T>>& inputs,
                                   const BackwardOptions& options = {});

  // Ends the pass without computing gradients.
  void clear();

  // Returns the weights of each attention computed since the last call, if
  // TapeOptions::keep_attention_weights is set. They are in the order of computation, before
  // dropout, each of shape [batch, num_heads, num_queries, num_keys].
  std::vector<Tensor<T>> take_attention_weights() { return std::exchange(intermediates_, {}); }

  // Returns statistics of the memory that the tape holds for its passes.
  MemoryStatistics memory() const;

  // The functions below are for writing operations (see operation.hpp).

  // Returns a tensor of this shape with uninitialized elements, in memory of the tape.
  template <class U = T>
  Tensor<U> uninitialized(const Shape& shape) const {
    return Tensor<U>::uninitialized(shape, pool_);
  }
  Tensor<T> zeros(const Shape& shape) const;  // zeros of this shape, in memory of the tape
  // Returns a copy of `indices` (token ids, for example), of any shape, on which backward can rely:
  // forward has checked them, and nobody else can change the copy. Returns `indices` itself if the
  // tape does not record.
  template <class U>
  Tensor<U> keep(const Tensor<U>& indices) const {
    if (!options_.recording) return indices;
    Tensor<U> own = uninitialized<U>(indices.shape());
    std::copy(indices.begin(), indices.end(), own.begin());
    return own;
  }

  // Returns whether operations should round tensors of this shape to bf16 for backward, so that
  // they take half the memory until then: large ones, if the precision is bf16.
  bool saves_bf16(const Shape& shape) const;
  // Returns x, of any shape, for backward: rounded to bf16 if `saves_bf16`, and else as it is.
  Tensor<T> saved(const Tensor<T>& x) const {
    return saves_bf16(x.shape()) ? x.rounded_to_bf16() : x;
  }
  // Returns Tensor::of_bf16 of any shape, in memory of the tape.
  Tensor<T> of_bf16(const Shape& shape,
                    const std::function<void(std::span<std::uint16_t>)>& fill) const {
    return Tensor<T>::of_bf16(shape, fill, pool_);
  }

  // Records the result of an operation: `value`, of any shape. If one of `inputs` needs a gradient,
  // keeps `backward`. It will be called as backward(tape, dy) with the gradient dy of `value`, and
  // adds to the gradients of the inputs.
  template <class Backward>
  Var<T> record(const char* operation, Tensor<T> value, std::initializer_list<NodeId> inputs,
                Backward backward) {
    return record(operation, std::move(value), std::span(inputs.begin(), inputs.size()),
                  std::move(backward));
  }
  // Records the result of an operation, of any shape, with a number of inputs that is known only at
  // run time.
  template <class Backward>
  Var<T> record(const char* operation, Tensor<T> value, std::span<const NodeId> inputs,
                Backward backward) {
    const bool is_recorded = needs_gradient(inputs);
    if (is_watched()) watch(operation, value, inputs, is_recorded);
    if (is_recorded) return push(operation, std::move(value), std::move(backward));
    return constant(std::move(value));
  }
  // Records the result of an operation, of any shape, whose backward function must run even if none
  // of its inputs needs a gradient.
  template <class Backward>
  Var<T> record_always(const char* operation, Tensor<T> value, Backward backward) {
    if (is_watched()) watch(operation, value, {}, true);
    return push(operation, std::move(value), std::move(backward));
  }

  // Called by each loss that is a mean, with its divisor: the number of labels, or the sum of
  // weights.
  void count_labels(double labels);
  // Returns the different numbers passed to `count_labels` in this pass, at most the first two. If
  // there is only one, it is the weight of the pass's loss when losses of several batches are
  // averaged.
  std::span<const double> label_counts() const { return {label_counts_.data(), num_label_counts_}; }

  // For the observer: counts `count` products of matrices [m, k] and [k, n] that the next recorded
  // operation has computed.
  void count_products(Index m, Index n, Index k, Index count = 1) {
    flops_ += 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) *
              static_cast<double>(count);
  }

  // For backward functions: returns where to add the gradient of an input. The result is false for
  // `no_node`.
  Gradient<T> gradient(NodeId node);
  // For backward functions: adds `dy`, of the input's shape, to the gradient of an input. The first
  // addition copies nothing: the elements are shared until something is added to them.
  void add_gradient(NodeId node, const Tensor<T>& dy);

  // Returns whether operations should call `add_attention_weights`.
  bool keeps_attention_weights() const { return options_.keep_attention_weights; }
  // Appends a tensor, of any shape, to the result of `take_attention_weights`.
  void add_attention_weights(Tensor<T> value) { intermediates_.push_back(std::move(value)); }

  // Returns random numbers for the next operation of this pass that needs them.
  RandomStream next_random_stream() { return {options_.seed, step_, streams_++}; }
  // Returns the number of random streams that this pass has used.
  std::uint32_t random_streams() const { return streams_; }
  // Sets the number of random streams that this pass has used, to continue after a replay.
  void set_random_streams(std::uint32_t streams) { streams_ = streams; }

  // Returns an empty tape for recomputing a part of this pass. It has the same options, and its
  // random numbers follow the first `streams` streams. Every call returns the same tape.
  Tape& replay(std::uint32_t streams);

  // For recomputed parts: makes `backward` throw Error if a parameter that the pass of `part` has
  // used so far has been moved or destroyed.
  void keep_parameters_of(const Tape& part);

  // Sets where backward adds the gradients of parameters that are used from now on. Null stands for
  // the parameters themselves.
  void set_gradient_target(GradientTarget<T>* target) { target_ = target; }

 private:
  // A backward function and the values it has captured, in a separate block of memory.
  struct Function {
    Buffer memory;
    virtual ~Function() = default;
    virtual void run(Tape& tape, const Tensor<T>& dy) = 0;
  };
  template <class Backward>
  struct FunctionOf final : Function {
    Backward backward;
    explicit FunctionOf(Backward function) : backward(std::move(function)) {}
    void run(Tape& tape, const Tensor<T>& dy) override { backward(tape, dy); }
  };
  struct Destroy {
    void operator()(Function* function) const {
      const Buffer memory = std::move(function->memory);  // released after the function
      function->~Function();
    }
  };

  struct Node {
    const char* operation;
    Shape shape = {};
    Tensor<T> gradient = {};
    ParameterPointer<const Parameter<T>> parameter = nullptr;  // null except for parameters
    GradientAccumulator<T>* target_sum =
        nullptr;  // where the gradient is added; null: the parameter
    std::unique_ptr<Function, Destroy> function = {};  // null for parameters and variables
    bool is_returned = false;                          // whether `gradients` returns the gradient

    bool has_gradient() const { return gradient.data() != nullptr; }
  };

  // When backward returns or throws, ends the pass or, with retain_graph, prepares it for another
  // backward.
  struct Finish {
    Tape* tape;
    const BackwardOptions& options;
    ~Finish();
  };

  // Creates a tape whose memory comes from `pool`, or from the heap if it is null.
  Tape(const TapeOptions& options, Pool* pool);
  // Returns the inference tape of constants created without a tape, one for each thread. It keeps
  // no memory.
  static Tape& of_thread();

  bool needs_gradient(std::span<const NodeId> inputs) const;
  Var<T> push(Node node, Tensor<T> value);
  template <class Backward>
  Var<T> push(const char* operation, Tensor<T> value, Backward backward) {
    static_assert(alignof(Backward) <= Buffer::alignment);
    Buffer memory(sizeof(FunctionOf<Backward>), pool_);
    std::unique_ptr<Function, Destroy> function(new (memory.data())
                                                    FunctionOf<Backward>(std::move(backward)));
    function->memory = std::move(memory);
    return push({.operation = operation, .function = std::move(function)}, std::move(value));
  }
  // Whether results are checked or shown to an observer before they are recorded.
  bool is_watched() const { return options_.detect_anomaly || options_.observer; }
  void watch(const char* operation, const Tensor<T>& value, std::span<const NodeId> inputs,
             bool is_recorded);
  void check_value(const char* operation, const Tensor<T>& value, std::span<const NodeId> inputs,
                   bool is_recorded);
  void check_loss(const Var<T>& loss) const;
  void check_gradients(const char* operation, NodeId id);
  const char* infinite_by(NodeId id) const;
  void set_infinite_by(Index id, const char* operation);
  void check_parameters() const;
  // Returns the parameter's sum to which backward adds a node's gradient, or null if the node keeps
  // its gradient itself.
  GradientAccumulator<T>* sum_of(const Node& node) const {
    if (!to_parameters_ || !node.parameter) return nullptr;
    return node.target_sum ? node.target_sum : &node.parameter->gradient_sum();
  }
  Tensor<T> upstream_of(const Var<T>& loss) const;
  void check_backward(const Var<T>& y, const Tensor<T>& upstream) const;
  void run_backward(const Var<T>& y, const Tensor<T>& upstream, const BackwardOptions& options);
  Node& node_of(const Var<T>& x) { return nodes_[static_cast<std::size_t>(x.node())]; }

  TapeOptions options_;
  Pool* pool_;
  std::vector<Node> nodes_;
  std::vector<NodeId> touched_;  // nodes that the running backward function added to
  // The parameters of recomputed parts, and their addresses in forward.
  std::vector<std::pair<ParameterPointer<const Parameter<T>>, const Parameter<T>*>> of_parts_;
  // With `detect_anomaly`: for each node, the operation that produced an infinity in its value (in
  // backward, in its gradient), or null.
  std::vector<const char*> infinite_by_;
  std::vector<Tensor<T>> intermediates_;
  GradientTarget<T>* target_ = nullptr;
  bool to_parameters_ = true;  // false while `gradients` runs
  std::uint32_t number_ = 0;   // number of the pass, to recognize variables of earlier passes
  std::uint32_t step_ = 0;
  std::uint32_t streams_ = 0;
  double flops_ = 0.0;  // of matrix products since the last operation
  std::array<double, 2> label_counts_ = {};
  std::size_t num_label_counts_ = 0;
  std::unique_ptr<Tape> replay_;

  friend class Var<T>;
};

// Returns x's value, of any shape, as a constant of the same tape: no gradient flows back to x
// (torch's detach).
//   Var y = x * detach(sigmoid(x));
template <class T>
Var<T> detach(const Var<T>& x) {
  return x.tape().constant(x.value());
}

extern template class Var<float>;
extern template class Var<double>;
extern template class Tape<float>;
extern template class Tape<double>;

}  // namespace weft
