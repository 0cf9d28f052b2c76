// ParallelPass: forward and backward of one batch in parts, each on its own thread and tape.
#pragma once

#include <cmath>
#include <deque>
#include <numeric>
#include <vector>

#include "weft/autograd/parallel.hpp"
#include "weft/autograd/pass.hpp"
#include "weft/train/optim/parameter_elements.hpp"

namespace weft {

// Data parallelism for small models, whose operations are too short to be parallelized one by one.
// The result depends on the number of parts, but is bitwise identical for any number of threads.
// The model must outlive the object and must not be moved.
template <class T = float>
class WEFT_API ParallelPass {
 public:
  // Each part has its own gradients.
  static constexpr Index most_parts = 4096;

  // Prepares up to `max_parts` parts; `options` apply to each tape. Throws ValueError unless
  // 1 ≤ max_parts ≤ most_parts.
  ParallelPass(NamedParameters<T> parameters, Index max_parts, const TapeOptions& options);

  Index max_parts() const { return static_cast<Index>(tapes_.size()); }

  // Calls loss(tape, part), which returns a scalar Var, for parts 0 … parts - 1, concurrently, and
  // adds their gradients to those of the parameters in the order of the parts. Returns the sum of
  // the losses; when it is not finite, gradients may be missing. Random numbers depend on `step`.
  // Throws ValueError unless 1 ≤ parts ≤ max_parts, and Error when the loss uses a parameter that
  // was not passed to the constructor.
  template <class Loss>
  double add_gradients(std::uint32_t step, Index parts, const Loss& loss) {
    begin(parts);
    parallel_for(parts, 1, [&](Index first, Index last) {
      for (Index part = first; part < last; ++part) {
        Tape<T>& tape = tapes_[static_cast<std::size_t>(part)];
        tape.clear();
        tape.set_step(step * static_cast<std::uint32_t>(max_parts()) +
                      static_cast<std::uint32_t>(part));
        const Var<T> value = loss(tape, part);
        losses_[static_cast<std::size_t>(part)] = static_cast<double>(value.item());
        if (std::isfinite(value.item())) tape.backward(value);
      }
    });
    sum_gradients();
    return std::accumulate(losses_.begin(), losses_.end(), 0.0);
  }

 private:
  void begin(Index parts);
  void sum_gradients();

  ParameterElements<T> elements_;
  std::deque<Tape<T>> tapes_;
  // Part 0 adds to the parameters' own gradients, part i to stores_[i - 1].
  std::deque<GradientStore<T>> stores_;
  std::vector<double> losses_;
};

extern template class ParallelPass<float>;
extern template class ParallelPass<double>;

}  // namespace weft
