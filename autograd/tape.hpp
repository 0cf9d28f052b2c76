// Tape and Var: a pass is recorded in order and traversed backwards for gradients.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
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
class Tape;

// The index of a record in its pass; `no_node` for a value that needs no gradient.
using NodeId = std::int32_t;
inline constexpr NodeId no_node = -1;  // of a value that needs no gradient

// A value computed on a tape. Cheap to copy; copies share the elements. Valid as an input until the
// tape's pass ends; its value stays readable after that.
//   Var x = tape.constant(X);   // X [2, 3]
//   Var y = 0.5f * (1 - x);     // y.value() [2, 3]
template <class T = float>
class WEFT_API Var {
 public:
  const Tensor<T>& value() const& { return value_; }     // of shape()
  Tensor<T> value() && { return std::move(value_); }     // of shape()
  const Shape& shape() const { return value_.shape(); }  // the sizes of the axes
  Index rank() const { return value_.rank(); }           // the number of axes
  Index size() const { return value_.size(); }           // the number of elements
  // The only element. Throws ShapeError when there is not exactly one.
  T item() const { return value_.item(); }
  Tape<T>& tape() const { return *tape_; }  // on which it was computed
  // For writing operations (see operation.hpp): the record that computed the value. Throws Error
  // when its pass has ended.
  NodeId node() const;

 private:
  friend class Tape<T>;
  Var(Tape<T>& tape, Tensor<T> value, NodeId node, std::uint32_t pass_number)
      : value_(std::move(value)), tape_(&tape), node_(node), pass_number_(pass_number) {}

  Tensor<T> value_;
  Tape<T>* tape_;
  NodeId node_;
  std::uint32_t pass_number_;
};

struct TapeOptions {
  // Enables dropout and everything else that differs between training and evaluation.
  bool training = false;
  // Whether operations are recorded for `backward`.
  bool recording = true;
  // Random numbers (dropout masks) depend on the seed and the step, which a new tape begins at 0:
  // one made for each step of a training has the same masks each time, unless `set_step` is called.
  std::uint64_t seed = 0;
  // Checks every value and every gradient, and throws NonFiniteError at the first NaN, naming the
  // operation that made it. An infinity in between is no error: a program may mask with -infinity.
  // Where one reaches what `backward` starts from, or the gradient of a parameter or a variable,
  // `backward` throws NonFiniteError that names the operation which made it. Slow; for finding the
  // cause of a NaN.
  bool detect_anomaly = false;
  // Whether operations keep what is computed on the way to a result and is worth a look: see
  // Tape::take_intermediates.
  bool keep_intermediates = false;
  // Of the inputs of matrix products, in forward and in backward: those of `linear`, `matmul`,
  // `einsum`, recurrent layers and attention (but for short sequences, which need no products of
  // matrices, and attention over a KeyValueCache). bf16 computes about twice as fast where the
  // processor has the instructions. The constructor of Tape throws Error where it has not, and
  // ValueError for Tape<double>.
  Precision precision = Precision::full;
  // When given, is told of every operation, forward and backward. Must outlive the tape.
  TapeObserver* observer = nullptr;
};

// Of Tape::backward and Tape::gradients.
struct BackwardOptions {
  // Leaves the pass as it was before: for the gradients of several results of one pass (PyTorch's
  // retain_graph).
  bool keep_pass = false;
};

// Owns one pass at a time: its records, its memory, whether it trains, its random numbers. Two
// threads may use two tapes at once.
//
// A pass lasts until `backward`, `gradients` or `clear`. Until then, a tape that records keeps what
// backward needs of every operation, so forwards that nobody ends take more and more memory: use
// `inference` for those without gradients.
//   Tape tape({.training = true, .seed = 7});
//   tape.backward(mse_loss(linear(tape.constant(X), tape.parameter(model_weight)),
//   tape.constant(Y)));
template <class T = float>
class WEFT_API Tape {
 public:
  Tape() : Tape(TapeOptions{}) {}  // records, without dropout
  // Throws as TapeOptions::precision says.
  Tape(const TapeOptions& options);
  ~Tape();
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  // A tape that records nothing, with dropout off.
  static Tape inference() { return Tape(TapeOptions{.training = false, .recording = false}); }

  const TapeOptions& options() const { return options_; }     // those it was made with
  bool training() const { return options_.training; }         // see TapeOptions
  bool recording() const { return options_.recording; }       // see TapeOptions
  Precision precision() const { return options_.precision; }  // see TapeOptions

  // The step that random numbers depend on, beside the seed. The end of a pass adds 1.
  std::uint32_t step() const { return step_; }
  void set_step(std::uint32_t step) { step_ = step; }  // to resume training

  // A value of any shape that needs no gradient.
  Var<T> constant(Tensor<T> value) { return Var<T>(*this, std::move(value), no_node, number_); }
  // A parameter's value, of its shape; `backward` adds to the parameter's gradient. The parameter
  // may be moved during the pass; when it was removed or replaced, `backward` throws Error.
  Var<T> parameter(const Parameter<T>& parameter);

  // A value of any shape that is no parameter, and whose gradient `gradients` computes: an input,
  // for example.
  Var<T> variable(Tensor<T> value);

  // Adds d loss / d parameter to the gradient of every parameter that `loss` depends on, then
  // clears the tape for the next pass. Throws ShapeError unless the loss has one element, and Error
  // when it belongs to another tape or pass or was not recorded.
  void backward(const Var<T>& loss, const BackwardOptions& options = {});
  // The same for y of any shape, given the gradient `upstream` of the same shape.
  void backward(const Var<T>& y, const Tensor<T>& upstream, const BackwardOptions& options = {});

  // d loss / d x for each x of `inputs`, of its shape: zeros when the loss does not depend on it.
  // An input may be a `variable`, a parameter's Var (for this use of it only) or an intermediate
  // result. Changes no parameter's gradient, and ends the pass (torch.autograd.grad). Throws as
  // `backward`, and Error for an input that is a constant or of another tape or pass.
  //   Var x = tape.variable(X);
  //   const Tensor<float> dx = tape.gradients(sum(x * x), {x})[0];  // 2 X
  std::vector<Tensor<T>> gradients(const Var<T>& loss, const std::vector<Var<T>>& inputs,
                                   const BackwardOptions& options = {});
  std::vector<Tensor<T>> gradients(const Var<T>& y, const Tensor<T>& upstream,
                                   const std::vector<Var<T>>& inputs,
                                   const BackwardOptions& options = {});

  // Ends the pass without gradients.
  void clear();

  // With TapeOptions::keep_intermediates: the weights of each attention since the last call, in the
  // order of computation, before dropout, [batch, num_heads, num_queries, num_keys].
  std::vector<Tensor<T>> take_intermediates() { return std::exchange(intermediates_, {}); }

  // The memory that the tape holds for its passes.
  MemoryStatistics memory() const;

  // For writing operations (see operation.hpp).

  // Uninitialized elements in memory of the tape.
  template <class U = T>
  Tensor<U> uninitialized(const Shape& shape) const {
    return Tensor<U>::uninitialized(shape, pool_);
  }
  Tensor<T> zeros(const Shape& shape) const;  // of this shape, in memory of the tape
  // What backward uses as indices and forward has checked, such as tokens, of any shape: a copy
  // that nobody has a pointer to, in memory of the tape; the tensor itself when the tape does not
  // record.
  template <class U>
  Tensor<U> keep(const Tensor<U>& indices) const {
    if (!options_.recording) return indices;
    Tensor<U> own = uninitialized<U>(indices.shape());
    std::copy(indices.begin(), indices.end(), own.begin());
    return own;
  }

  // The result of an operation, of any shape. When one of `inputs` needs a gradient, keeps
  // `backward`, which is called as backward(tape, dy) with the gradient dy of `value` and adds to
  // the gradients of the inputs.
  template <class Backward>
  Var<T> record(const char* operation, Tensor<T> value, std::initializer_list<NodeId> inputs,
                Backward backward) {
    return record(operation, std::move(value), std::span(inputs.begin(), inputs.size()),
                  std::move(backward));
  }
  // The same, of any shape, for a list of inputs whose length is known at run time.
  template <class Backward>
  Var<T> record(const char* operation, Tensor<T> value, std::span<const NodeId> inputs,
                Backward backward) {
    const bool is_recorded = needs_gradient(inputs);
    if (is_watched()) watch(operation, value, inputs, is_recorded);
    if (is_recorded) return push(operation, std::move(value), std::move(backward));
    return constant(std::move(value));
  }
  // The same, of any shape, for an operation that needs its gradient whatever its inputs are.
  template <class Backward>
  Var<T> record_always(const char* operation, Tensor<T> value, Backward backward) {
    if (is_watched()) watch(operation, value, {}, true);
    return push(operation, std::move(value), std::move(backward));
  }

  // For a loss that is a mean: adds the number of labels, or the sum of weights, by which it
  // divides.
  void count_labels(double labels);
  // The different numbers that `count_labels` was called with in this pass, at most the first two.
  // A single one is the weight of the pass's loss among the losses of other batches.
  std::span<const double> label_counts() const { return {label_counts_.data(), num_label_counts_}; }

  // Products of matrices [m, k] and [k, n] that the operation which is recorded next has computed,
  // for an observer.
  void count_products(Index m, Index n, Index k, Index count = 1) {
    flops_ += 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) *
              static_cast<double>(count);
  }

  // Within a backward function: where to add the gradient of an input; not wanted for `no_node`.
  Gradient<T> gradient(NodeId node);
  // Adds `dy`, of the input's shape, unchanged. The first addition copies nothing: the elements are
  // shared until something is added to them.
  void add_gradient(NodeId node, const Tensor<T>& dy);

  // Whether `take_intermediates` has any.
  bool keeps_intermediates() const { return options_.keep_intermediates; }
  // Adds one, of any shape, to those of `take_intermediates`.
  void keep_intermediate(Tensor<T> value) { intermediates_.push_back(std::move(value)); }

  // Random numbers for the next operation of this pass that needs any.
  RandomStream next_random_stream() { return {options_.seed, step_, streams_++}; }
  // How many streams this pass has used.
  std::uint32_t random_streams() const { return streams_; }
  void set_random_streams(std::uint32_t streams) { streams_ = streams; }  // after a replay

  // An empty tape for computing a part of this pass again: with the same options and the random
  // numbers that follow the first `streams` streams. Always the same tape.
  Tape& replay(std::uint32_t streams);

  // For parts that are computed again: `backward` throws Error when a parameter that the pass of
  // `part` has used so far does not exist any more, or elsewhere.
  void keep_parameters_of(const Tape& part);

  // Null for the parameters themselves. For the following uses of parameters.
  void set_gradient_target(GradientTarget<T>* target) { target_ = target; }

 private:
  // A backward function with what it has kept, in memory of its own.
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
    ParameterPointer<const Parameter<T>> parameter = nullptr;  // null but for parameters
    GradientSum<T>* target_sum = nullptr;  // where its gradient is added, if not to the parameter
    std::unique_ptr<Function, Destroy> function = {};  // null for parameters and variables
    bool is_returned = false;                          // the gradient, by `gradients`

    bool has_gradient() const { return gradient.data() != nullptr; }
  };

  // Whatever happens in backward, the pass ends then, or is made ready for another one.
  struct Finish {
    Tape* tape;
    const BackwardOptions& options;
    ~Finish();
  };

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
  // Whether results are checked, or shown to an observer, before they are recorded.
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
  // Where backward adds a node's gradient: a parameter's sum, or null for the node itself.
  GradientSum<T>* sum_of(const Node& node) const {
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
  // The parameters of parts that are computed again, and where they were.
  std::vector<std::pair<ParameterPointer<const Parameter<T>>, const Parameter<T>*>> of_parts_;
  // With `detect_anomaly`: for each node, the operation that made an infinity in its value, later
  // in its gradient, or null.
  std::vector<const char*> infinite_by_;
  std::vector<Tensor<T>> intermediates_;
  GradientTarget<T>* target_ = nullptr;
  bool to_parameters_ = true;  // false while `gradients` runs
  std::uint32_t number_ = 0;   // of the pass, to recognize variables of earlier ones
  std::uint32_t step_ = 0;
  std::uint32_t streams_ = 0;
  double flops_ = 0.0;  // counted since the last operation
  std::array<double, 2> label_counts_ = {};
  std::size_t num_label_counts_ = 0;
  std::unique_ptr<Tape> replay_;

  friend class Var<T>;
};

// x's value, of any shape, as a constant of its tape: no gradient flows back to x (torch's detach).
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
