// Tape and Var: a pass is recorded in order and traversed backwards for gradients.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/autograd/parameter.hpp"
#include "weft/autograd/precision.hpp"
#include "weft/autograd/tensor.hpp"

namespace weft {

template <class T>
class Pass;
template <class T>
class Tape;

// The index of a record in its pass; `no_node` for a value that needs no gradient.
using NodeId = std::int32_t;
inline constexpr NodeId no_node = -1;

// A value computed on a tape. Cheap to copy; copies share the elements. Valid as an input until the
// tape's pass ends; its value stays readable after that.
template <class T = float>
class WEFT_API Var {
 public:
  const Tensor<T>& value() const& { return value_; }
  Tensor<T> value() && { return std::move(value_); }
  const Shape& shape() const { return value_.shape(); }
  Index rank() const { return value_.rank(); }
  Index size() const { return value_.size(); }
  // The only element. Throws ShapeError when there is not exactly one.
  T item() const { return value_.item(); }
  Tape<T>& tape() const { return *tape_; }

  // For writing operations (see operation.hpp): the pass and the record that computed the value.
  // `node` throws Error when that pass has ended.
  Pass<T>& pass() const;
  NodeId node() const;

 private:
  friend class Pass<T>;
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
  // Random numbers (dropout masks) depend on the seed and the step.
  std::uint64_t seed = 0;
  // Checks every value and every gradient, and throws NonFiniteError at the first NaN or infinity,
  // naming its operation. Slow; for finding the cause of one.
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
};

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
template <class T = float>
class WEFT_API Tape {
 public:
  Tape() : Tape(TapeOptions{}) {}
  Tape(const TapeOptions& options);
  ~Tape();
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  // A tape that records nothing, with dropout off.
  static Tape inference() { return Tape(TapeOptions{.training = false, .recording = false}); }

  const TapeOptions& options() const;
  bool training() const { return options().training; }
  bool recording() const { return options().recording; }
  Precision precision() const { return options().precision; }

  // The step that random numbers depend on, beside the seed. The end of a pass adds 1.
  std::uint32_t step() const;
  void set_step(std::uint32_t step);

  // A value that needs no gradient.
  Var<T> constant(Tensor<T> value);
  // A parameter's value; `backward` adds to the parameter's gradient. The parameter must outlive
  // the pass.
  Var<T> parameter(const Parameter<T>& parameter);

  // A value that is no parameter, and whose gradient `gradients` computes: an input, for example.
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
  std::vector<Tensor<T>> gradients(const Var<T>& loss, const std::vector<Var<T>>& inputs,
                                   const BackwardOptions& options = {});
  std::vector<Tensor<T>> gradients(const Var<T>& y, const Tensor<T>& upstream,
                                   const std::vector<Var<T>>& inputs,
                                   const BackwardOptions& options = {});

  // Ends the pass without gradients.
  void clear();

  // With TapeOptions::keep_intermediates: the weights of each attention since the last call, in the
  // order of computation, before dropout, [batch, num_heads, num_queries, num_keys].
  std::vector<Tensor<T>> take_intermediates();

  // The memory that the tape holds for its passes.
  MemoryStatistics memory() const;

  // For writing operations; see operation.hpp.
  Pass<T>& pass() const { return *pass_; }

 private:
  Tensor<T> upstream_of(const Var<T>& loss) const;

  std::unique_ptr<Pass<T>> pass_;
};

// x's value as a constant of its tape: no gradient flows back to x.
template <class T>
Var<T> detach(const Var<T>& x) {
  return x.tape().constant(x.value());
}

extern template class Var<float>;
extern template class Var<double>;
extern template class Tape<float>;
extern template class Tape<double>;

}  // namespace weft
