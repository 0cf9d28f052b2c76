#include "weft/train/parallel/parallel_pass.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "weft/autograd/error.hpp"
#include "weft/autograd/nested_parallel_for.hpp"
#include "train/parallel/internal/sum_tree.hpp"

namespace weft {

// The tape and the gradients of a part. The first part adds to the gradients of the parameters
// directly.
template <class T>
class ParallelPass<T>::Part final : public GradientTarget<T> {
 public:
  Part(ParallelPass& pass, const TapeOptions& options, bool is_first)
      : tape(options), pass_(pass), uses_(pass.numbers_.size()) {
    for (std::size_t i = 0; !is_first && i < uses_.size(); ++i)
      own_.emplace_back(pass.elements_.shape(i));
    tape.set_gradient_target(this);
  }

  GradientAccumulator<T>& use(const Parameter<T>& parameter) override {
    const std::size_t number = pass_.number_of(parameter);
    ++uses_[number];
    return sum_of(number);
  }
  void passed(const Parameter<T>& parameter) override {
    if (!is_watched_) return;
    const std::size_t number = pass_.number_of(parameter);
    if (--uses_[number] == 0) pass_.complete(number);
  }

  void begin_forward() {
    std::fill(uses_.begin(), uses_.end(), 0);
    is_watched_ = false;
  }
  // Call before the backward pass of the loss. A backward pass that the loss function runs itself
  // does not complete gradients.
  void begin_backward() {
    is_watched_ = pass_.on_complete_ != nullptr;
    for (std::size_t number = 0; is_watched_ && number < uses_.size(); ++number)
      if (uses_[number] == 0) pass_.complete(number);
  }
  GradientAccumulator<T>& sum_of(std::size_t parameter) {
    return own_.empty() ? pass_.elements_.parameters()[parameter].parameter->gradient_sum()
                        : own_[parameter];
  }
  void clear() {
    for (GradientAccumulator<T>& sum : own_) sum.clear();
  }

  Tape<T> tape;

 private:
  ParallelPass& pass_;
  std::vector<GradientAccumulator<T>> own_;  // one for each parameter; empty in the first part
  std::vector<Index> uses_;  // uses of each parameter that backward has yet to reach
  bool is_watched_ = false;
};

template <class T>
ParallelPass<T>::ParallelPass(NamedParameters<T> parameters, Index max_parts,
                              const TapeOptions& options)
    : ParallelPass(std::move(parameters), max_parts, options, 0, max_parts) {}

template <class T>
ParallelPass<T>::ParallelPass(NamedParameters<T> parameters, Index max_parts,
                              const TapeOptions& options, Index first_part, Index last_part)
    : elements_(std::move(parameters)), max_parts_(max_parts), first_part_(first_part) {
  if (max_parts < 1 || max_parts > most_parts)
    fail<ValueError>("parallel pass: parts", str_cat("a value from 1 to ", most_parts), max_parts);
  if (first_part < 0 || first_part >= last_part || last_part > max_parts)
    fail<ValueError>("parallel pass: own parts",
                     str_cat("a nonempty range within [0, ", max_parts, ")"),
                     str_cat("[", first_part, ", ", last_part, ")"));
  for (const auto& [name, parameter] : elements_.parameters()) {
    numbers_.emplace(parameter.key(), numbers_.size());
    incomplete_.emplace_back(0);
  }
  for (Index part = first_part; part < last_part; ++part)
    parts_.push_back(std::make_unique<Part>(*this, options, part == first_part));
  for (const auto& [all, middle] : sum_tree(max_parts))
    if (PartRange{first_part, last_part}.contains(all)) additions_.emplace_back(all.first, middle);
}

template <class T>
ParallelPass<T>::~ParallelPass() = default;

template <class T>
std::size_t ParallelPass<T>::number_of(const Parameter<T>& parameter) const {
  const auto found = numbers_.find(ParameterPointer<const Parameter<T>>(&parameter).key());
  if (found == numbers_.end())
    fail<Error>("parallel pass", "a parameter passed to the constructor",
                str_cat("a different parameter of shape ", parameter.shape(),
                        " (does the model's `members` name it?)"));
  return found->second;
}

template <class T>
void ParallelPass<T>::begin() {
  losses_.assign(parts_.size(), 0.0);
  for (const auto& part : parts_) part->clear();
}

template <class T>
void ParallelPass<T>::compute_parts(std::uint32_t step, Index parts, const LossOfPart& loss) {
  if (parts < 1 || parts > max_parts_)
    fail<ValueError>("parallel pass: parts", str_cat("a value from 1 to ", max_parts_), parts);
  elements_.check_exist("parallel pass");
  const Index computed = std::clamp<Index>(parts - first_part_, 0, std::ssize(parts_));
  for (std::atomic<Index>& incomplete : incomplete_) incomplete = computed;
  nested_parallel_for(computed, [&](Index i) {
    Part& part = *parts_[static_cast<std::size_t>(i)];
    part.begin_forward();
    part.tape.clear();
    part.tape.set_step(step * static_cast<std::uint32_t>(max_parts_) +
                       static_cast<std::uint32_t>(first_part_ + i));
    const std::optional<Var<T>> value = loss(part.tape, first_part_ + i);
    if (!value) {
      part.tape.clear();
      part.begin_forward();
      part.begin_backward();
      return;
    }
    losses_[static_cast<std::size_t>(i)] += static_cast<double>(value->item());
    // With `detect_anomaly`, backward names the operation.
    if (!std::isfinite(value->item()) && !part.tape.options().detect_anomaly) return;
    part.begin_backward();
    part.tape.backward(*value);
  });
}

template <class T>
void ParallelPass<T>::complete(std::size_t parameter) {
  if (--incomplete_[parameter] == 0) on_complete_(parameter);
}

template <class T>
GradientAccumulator<T>& ParallelPass<T>::sum_of(Index first, std::size_t parameter) {
  return parts_[static_cast<std::size_t>(first - first_part_)]->sum_of(parameter);
}

template <class T>
void ParallelPass<T>::prepare_sum(std::size_t parameter) {
  for (const auto& [to, from] : additions_) {
    if (sum_of(from, parameter).empty()) continue;
    GradientAccumulator<T>& sum = sum_of(to, parameter);
    // -0 + x is x for every x, including 0 and -0.
    const Shape& shape = elements_.shape(parameter);
    if (const Gradient<T> gradient = sum.gradient(shape); gradient.fresh)
      std::fill(gradient.values.begin(), gradient.values.end(), -T{0});
    sum.data();
  }
}

template <class T>
void ParallelPass<T>::sum_elements(std::size_t parameter, Index begin, Index end) {
  for (const auto& [to, from] : additions_) {
    const GradientAccumulator<T>& part = sum_of(from, parameter);
    if (part.empty()) continue;
    T* total = sum_of(to, parameter).data();
    std::transform(total + begin, total + end, part.values().data() + begin, total + begin,
                   std::plus<T>());
  }
}

template <class T>
std::vector<double> ParallelPass<T>::squared_grad_norms() {
  elements_.check_exist("parallel pass");
  std::vector<double> squares(parts_.size(), 0.0);
  nested_parallel_for(std::ssize(parts_), [&](Index i) {
    const auto part = static_cast<std::size_t>(i);
    for (std::size_t number = 0; number < elements_.parameters().size(); ++number) {
      const GradientAccumulator<T>& gradient = parts_[part]->sum_of(number);
      if (gradient.empty()) continue;
      for (const T value : gradient.values())
        squares[part] += static_cast<double>(value) * static_cast<double>(value);
    }
  });
  return squares;
}

template <class T>
double ParallelPass<T>::sum_gradients() {
  if (!additions_.empty()) {
    for (std::size_t i = 0; i < elements_.parameters().size(); ++i) prepare_sum(i);
    elements_.prepare("parallel pass");
    elements_.for_each_part(
        [&](std::size_t index, Index begin, Index end) { sum_elements(index, begin, end); });
  }
  return std::accumulate(losses_.begin(), losses_.end(), 0.0);
}

template class ParallelPass<float>;
template class ParallelPass<double>;

}  // namespace weft
