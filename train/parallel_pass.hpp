// ParallelPass: forward and backward of one batch in parts, each on a thread and a tape of its own.
#pragma once

#include <cmath>
#include <deque>
#include <numeric>
#include <vector>

#include "weft/autograd/tape.hpp"
#include "weft/train/optim/parameter_elements.hpp"

namespace weft {

// Operations of a small model are too short to be shared between threads; parts of its batch are
// not. How a batch is cut decides the bits of the result, on how many threads it is computed does
// not. The model must outlive the object and stay where it is.
template <class T = float>
class ParallelPass {
 public:
  // For up to `most_parts` parts; `options` are those of each tape. Throws ValueError unless
  // most_parts ≥ 1.
  ParallelPass(NamedParameters<T> parameters, Index most_parts, const TapeOptions& options);

  Index most_parts() const { return static_cast<Index>(tapes_.size()); }

  // Calls loss(tape, part), which returns a scalar Var, for parts 0 … parts - 1, several of them at
  // the same time, and adds their gradients to the parameters in the order of the parts. Returns
  // the sum of the losses; when it is not finite, gradients may be missing. `step` decides the
  // random numbers.
  template <class Loss>
  double add_gradients(std::uint32_t step, Index parts, const Loss& loss) {
    begin(parts);
    parallel_for(parts, 1, [&](Index first, Index last) {
      for (Index part = first; part < last; ++part) {
        Tape<T>& tape = tapes_[static_cast<std::size_t>(part)];
        tape.clear();
        tape.set_step(step * static_cast<std::uint32_t>(most_parts()) +
                      static_cast<std::uint32_t>(part));
        const Var<T> value = loss(tape, part);
        losses_[static_cast<std::size_t>(part)] = static_cast<double>(value.item());
        if (std::isfinite(value.item())) tape.backward(value);
      }
    });
    add_up();
    return std::accumulate(losses_.begin(), losses_.end(), 0.0);
  }

 private:
  void begin(Index parts);
  void add_up();

  ParameterElements<T> elements_;
  std::deque<Tape<T>> tapes_;
  std::vector<double> losses_;
};

extern template class ParallelPass<float>;
extern template class ParallelPass<double>;

}  // namespace weft
