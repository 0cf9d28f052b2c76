// ParallelPass: the forward and backward pass of a batch in parts, each on its own thread and tape.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "weft/autograd/tape.hpp"
#include "weft/train/optim/parameter_elements.hpp"

namespace weft {

// Data parallelism for small models, whose operations are too short to be parallelized one by one.
// The result depends on the number of parts, but is bitwise identical for any number of threads.
// The model may be moved. Throws Error if a parameter was removed or replaced.
//   ParallelPass<float> pass(named_parameters(gpt), 4, {.training = true});
//   const double loss = pass.add_gradients(step, 4, [&](Tape<>& tape, Index part) {
//     return 0.25 * mean(gpt(tape, rows_of(tokens, part, part + 1)));
//   });
template <class T = float>
class WEFT_API ParallelPass {
 public:
  // The maximum number of parts. Each part needs memory for its own gradients.
  static constexpr Index most_parts = 4096;

  // Prepares up to `max_parts` parts; `options` apply to the tape of each part. Throws ValueError
  // unless 1 ≤ max_parts ≤ most_parts.
  ParallelPass(NamedParameters<T> parameters, Index max_parts, const TapeOptions& options);
  // Computes only parts [first_part, last_part); other processes compute the rest. Throws
  // ValueError unless 1 ≤ max_parts ≤ most_parts and 0 ≤ first_part < last_part ≤ max_parts.
  ParallelPass(NamedParameters<T> parameters, Index max_parts, const TapeOptions& options,
               Index first_part, Index last_part);
  ~ParallelPass();
  ParallelPass(const ParallelPass&) = delete;
  ParallelPass& operator=(const ParallelPass&) = delete;

  Index max_parts() const { return max_parts_; }  // the maximum number of parts of a batch

  // Calls loss(tape, part) concurrently for parts [0, parts), runs backward for each, and adds the
  // gradients to the parameters' gradients. `loss` returns a scalar Var, or an empty
  // std::optional<Var> for a part that contributes nothing. Returns the sum of the losses. If a
  // loss is not finite, gradients may be missing.
  //
  // Gradients are added as in a binary tree: the sum of the first half of the parts plus the sum of
  // the second half, recursively. Random numbers depend on `step`. Throws ValueError unless
  // 1 ≤ parts ≤ max_parts, and Error if the loss uses a parameter that was not passed to the
  // constructor.
  template <class Loss>
  double add_gradients(std::uint32_t step, Index parts, const Loss& loss) {
    begin();
    add_batch(step, parts, loss);
    return sum_gradients();
  }

  // Starts the sum of several batches, as `add_gradients` does for one: call `begin`, `add_batch`
  // for each batch, then `sum_gradients`. The gradients of each part are summed over the batches
  // first.
  void begin();
  // Adds a batch; see `begin`. If `on_complete` is set, backward calls it for each parameter, on
  // any thread, as soon as no part adds to its gradient any more. It is not called for parameters
  // inside a recomputed part of the model (see `recompute`).
  template <class Loss>
  void add_batch(std::uint32_t step, Index parts, const Loss& loss,
                 std::function<void(std::size_t parameter)> on_complete = {}) {
    on_complete_ = std::move(on_complete);
    compute_parts(step, parts, std::cref(loss));
  }
  // Adds the gradients of all parts to the parameters' gradients and returns the sum of the losses;
  // see `begin`.
  double sum_gradients();
  // Returns the squared Euclidean norm of the gradients of each part of this process, in double.
  // Call after `add_batch` and before `sum_gradients`. The first part's gradients include those
  // that the parameters had at `begin`.
  std::vector<double> squared_grad_norms();

  // Returns the losses of the parts computed by this process. This function and the next three are
  // for the exchange with other processes, instead of `sum_gradients`; parameters are numbered as
  // in `elements`.
  std::span<const double> losses() const { return losses_; }
  // Prepares the memory for the sum of a parameter's gradients. Call before `sum_elements`.
  void prepare_sum(std::size_t parameter);
  // Adds elements [begin, end) of a parameter's gradients over the parts of this process, as far as
  // the order of addition allows without gradients of other processes.
  void sum_elements(std::size_t parameter, Index begin, Index end);
  // Returns the sum of a parameter's gradients over the parts that start with part `first`.
  GradientAccumulator<T>& sum_of(Index first, std::size_t parameter);

 private:
  class Part;

  using LossOfPart = std::function<std::optional<Var<T>>(Tape<T>& tape, Index part)>;

  void compute_parts(std::uint32_t step, Index parts, const LossOfPart& loss);
  void complete(std::size_t parameter);
  std::size_t number_of(const Parameter<T>& parameter) const;

  ParameterElements<T> elements_;
  std::unordered_map<const void*, std::size_t> numbers_;  // by ParameterPointer::key
  Index max_parts_;
  Index first_part_;
  std::vector<std::unique_ptr<Part>> parts_;        // the parts computed by this process
  std::vector<double> losses_;                      // the losses of `parts_`
  std::vector<std::pair<Index, Index>> additions_;  // (to, from): add the sum of `from` to `to`
  std::function<void(std::size_t)> on_complete_;
  std::deque<std::atomic<Index>> incomplete_;  // for each parameter, parts that still add to it
};

extern template class ParallelPass<float>;
extern template class ParallelPass<double>;

}  // namespace weft
