// ParallelPass: forward and backward of one batch in parts, each on its own thread and tape.
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
// Follows parameters that are moved, and throws Error for one that was removed or replaced.
//   ParallelPass<float> pass(named_parameters(gpt), 4, {.training = true});
//   const double loss = pass.add_gradients(step, 4, [&](Tape<>& tape, Index part) {
//     return 0.25 * mean(gpt(tape, rows_of(tokens, part, part + 1)));
//   });
template <class T = float>
class WEFT_API ParallelPass {
 public:
  // Each part has its own gradients.
  static constexpr Index most_parts = 4096;

  // Prepares up to `max_parts` parts; `options` apply to each tape. Throws ValueError unless
  // 1 ≤ max_parts ≤ most_parts.
  ParallelPass(NamedParameters<T> parameters, Index max_parts, const TapeOptions& options);
  // Computes parts first … last - 1 only; other processes compute the others. Throws as above.
  ParallelPass(NamedParameters<T> parameters, Index max_parts, const TapeOptions& options,
               Index first_part, Index last_part);
  ~ParallelPass();
  ParallelPass(const ParallelPass&) = delete;
  ParallelPass& operator=(const ParallelPass&) = delete;

  Index max_parts() const { return max_parts_; }                      // of a batch
  const ParameterElements<T>& elements() const { return elements_; }  // of all parameters

  // Calls loss(tape, part), which returns a scalar Var, or std::optional<Var> without a value for a
  // part that contributes nothing, for parts 0 … parts - 1, concurrently, and
  // adds their gradients to those of the parameters: the sums of both halves of the parts are
  // added, and each of these is made in the same way. Returns the sum of the losses; when it is not
  // finite, gradients may be missing. Random numbers depend on `step`. Throws ValueError unless
  // 1 ≤ parts ≤ max_parts, and Error when the loss uses a parameter that was not passed to the
  // constructor.
  template <class Loss>
  double add_gradients(std::uint32_t step, Index parts, const Loss& loss) {
    begin();
    add_batch(step, parts, loss);
    return sum_gradients();
  }

  // The same for the sum of several batches: each part is summed over the batches first. `begin`,
  // `add_batch` for each batch, `sum_gradients`. Backward calls `on_complete`, if given, for each
  // parameter, on any thread, as soon as no part adds more to its gradient (parameters of a part
  // that is computed again, see `recompute`, are left out).
  void begin();
  // See `begin`.
  template <class Loss>
  void add_batch(std::uint32_t step, Index parts, const Loss& loss,
                 std::function<void(std::size_t parameter)> on_complete = {}) {
    on_complete_ = std::move(on_complete);
    compute_parts(step, parts, std::cref(loss));
  }
  double sum_gradients();  // see `begin`

  // For the exchange with other processes: the losses of the parts computed; and, instead of
  // `sum_gradients`, the sums of some elements: after `prepare_sum` of a parameter, `sum_elements`
  // adds its elements begin … end of the parts as far as only parts of this process are to be
  // added; `sum_of` is that of the parts from part `first` on. Parameters are numbered as in
  // `elements`.
  std::span<const double> losses() const { return losses_; }
  void prepare_sum(std::size_t parameter);                             // see `losses`
  void sum_elements(std::size_t parameter, Index begin, Index end);    // see `losses`
  GradientAccumulator<T>& sum_of(Index first, std::size_t parameter);  // see `losses`

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
  std::vector<std::unique_ptr<Part>> parts_;        // that are computed here
  std::vector<double> losses_;                      // of these
  std::vector<std::pair<Index, Index>> additions_;  // to the sum of a part, that of another
  std::function<void(std::size_t)> on_complete_;
  std::deque<std::atomic<Index>> incomplete_;  // of each parameter: parts that add to it
};

extern template class ParallelPass<float>;
extern template class ParallelPass<double>;

}  // namespace weft
