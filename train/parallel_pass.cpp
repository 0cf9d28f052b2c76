#include "weft/train/parallel_pass.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "weft/autograd/error.hpp"
#include "train/internal/sum_tree.hpp"

namespace weft {

template <class T>
ParallelPass<T>::ParallelPass(NamedParameters<T> parameters, Index max_parts,
                              const TapeOptions& options)
    : ParallelPass(std::move(parameters), max_parts, options, 0, max_parts) {}

template <class T>
ParallelPass<T>::ParallelPass(NamedParameters<T> parameters, Index max_parts,
                              const TapeOptions& options, Index first_part, Index last_part)
    : elements_(std::move(parameters)), max_parts_(max_parts), first_part_(first_part) {
  if (max_parts < 1 || max_parts > most_parts)
    fail<ValueError>("parallel pass: parts", concatenate_text("1 … ", most_parts), max_parts);
  if (first_part < 0 || first_part >= last_part || last_part > max_parts)
    fail<ValueError>("parallel pass: own parts", concatenate_text("some of ", max_parts),
                     concatenate_text(first_part, " … ", last_part));
  for (Index part = first_part; part < last_part; ++part) {
    tapes_.emplace_back(options);
    if (part == first_part) continue;
    GradientStore<T>& store = stores_.emplace_back();
    for (const auto& [name, parameter] : elements_.parameters())
      store.try_emplace(parameter, parameter->shape());
    tapes_.back().pass().set_gradient_store(&store);
  }
  for (const auto& [all, middle] : sum_tree(max_parts))
    if (PartRange{first_part, last_part}.contains(all)) additions_.emplace_back(all.first, middle);
}

template <class T>
void ParallelPass<T>::check_parts(Index parts) const {
  if (parts < 1 || parts > max_parts_)
    fail<ValueError>("parallel pass: parts", concatenate_text("1 … ", max_parts_), parts);
}

template <class T>
void ParallelPass<T>::begin() {
  losses_.assign(tapes_.size(), 0.0);
  for (GradientStore<T>& store : stores_)
    for (auto& [parameter, sum] : store) sum.clear();
}

template <class T>
GradientSum<T>& ParallelPass<T>::sum_of(Index first, const Parameter<T>& parameter) {
  if (first == first_part_) return parameter.gradient_sum();
  return stores_[static_cast<std::size_t>(first - first_part_ - 1)].at(&parameter);
}

template <class T>
void ParallelPass<T>::prepare_sum(const Parameter<T>& parameter) {
  for (const auto& [to, from] : additions_) {
    if (sum_of(from, parameter).empty()) continue;
    GradientSum<T>& sum = sum_of(to, parameter);
    // Adding to -0 gives the other number, whatever its sign.
    if (const Gradient<T> gradient = sum.gradient(parameter.shape()); gradient.fresh)
      std::fill(gradient.values.begin(), gradient.values.end(), -T{0});
    sum.data();
  }
}

template <class T>
void ParallelPass<T>::sum_elements(const Parameter<T>& parameter, Index begin, Index end) {
  for (const auto& [to, from] : additions_) {
    const GradientSum<T>& part = sum_of(from, parameter);
    if (part.empty()) continue;
    T* total = sum_of(to, parameter).data();
    std::transform(total + begin, total + end, part.values().data() + begin, total + begin,
                   std::plus<T>());
  }
}

template <class T>
double ParallelPass<T>::sum_gradients() {
  if (!additions_.empty()) {
    for (const auto& [name, parameter] : elements_.parameters()) prepare_sum(*parameter);
    elements_.prepare("parallel pass");
    parallel_for(elements_.size(), grain_of(1), [&](Index first, Index last) {
      elements_.for_each_part(first, last, [&](std::size_t index, Index begin, Index end) {
        sum_elements(*elements_.parameters()[index].parameter, begin, end);
      });
    });
  }
  return std::accumulate(losses_.begin(), losses_.end(), 0.0);
}

template class ParallelPass<float>;
template class ParallelPass<double>;

}  // namespace weft
