// ParallelPass: forward and backward of one batch in parts, each on its own thread and tape.
#pragma once

#include <algorithm>
#include <cmath>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "weft/autograd/parallel.hpp"
#include "weft/autograd/pass.hpp"
#include "weft/train/optim/parameter_elements.hpp"

namespace weft {

// Follows the pass of one part of a batch.
template <class T>
class WEFT_API PartObserver : public GradientObserver<T> {
 public:
  virtual void begin_forward() = 0;
  virtual void begin_backward() = 0;
};

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
  // Computes parts first … last - 1 only; other processes compute the others.
  ParallelPass(NamedParameters<T> parameters, Index max_parts, const TapeOptions& options,
               Index first_part, Index last_part);

  Index max_parts() const { return max_parts_; }

  // Calls loss(tape, part), which returns a scalar Var, for parts 0 … parts - 1, concurrently, and
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
  // `add_batch` for each batch, `sum_gradients`.
  void begin();
  template <class Loss>
  void add_batch(std::uint32_t step, Index parts, const Loss& loss) {
    check_parts(parts);
    const Index computed = std::clamp<Index>(parts - first_part_, 0, std::ssize(tapes_));
    parallel_for(computed, 1, [&](Index first, Index last) {
      for (Index i = first; i < last; ++i) {
        Tape<T>& tape = tapes_[static_cast<std::size_t>(i)];
        PartObserver<T>* const observer =
            observers_ ? (*observers_)[static_cast<std::size_t>(i)] : nullptr;
        tape.clear();
        tape.pass().set_observer(observer);
        tape.set_step(step * static_cast<std::uint32_t>(max_parts_) +
                      static_cast<std::uint32_t>(first_part_ + i));
        if (observer) observer->begin_forward();
        const Var<T> value = loss(tape, first_part_ + i);
        losses_[static_cast<std::size_t>(i)] += static_cast<double>(value.item());
        if (!std::isfinite(value.item())) continue;
        if (observer) observer->begin_backward();
        tape.backward(value);
      }
    });
  }
  double sum_gradients();

  // For the exchange with other processes. The losses of the parts computed, observers of
  // them for the next batches (null for none), and, instead of `sum_gradients`, the sums of some
  // elements: after `prepare_sum` of a parameter, `sum_elements` adds its elements begin … end of
  // the parts as far as only parts of this process are to be added; `sum_of` is that of the parts
  // from part `first` on.
  std::span<const double> losses() const { return losses_; }
  void set_observers(const std::vector<PartObserver<T>*>* observers) { observers_ = observers; }
  void prepare_sum(const Parameter<T>& parameter);
  void sum_elements(const Parameter<T>& parameter, Index begin, Index end);
  GradientSum<T>& sum_of(Index first, const Parameter<T>& parameter);

 private:
  void check_parts(Index parts) const;

  ParameterElements<T> elements_;
  Index max_parts_;
  Index first_part_;
  std::deque<Tape<T>> tapes_;
  // The first part adds to the parameters' own gradients, part i after it to stores_[i - 1].
  std::deque<GradientStore<T>> stores_;
  std::vector<double> losses_;                      // of the parts computed
  std::vector<std::pair<Index, Index>> additions_;  // to the sum of a part, that of another
  const std::vector<PartObserver<T>*>* observers_ = nullptr;
};

extern template class ParallelPass<float>;
extern template class ParallelPass<double>;

}  // namespace weft
