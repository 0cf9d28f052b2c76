#include "weft/train/parallel_pass.hpp"

#include <algorithm>
#include <functional>

#include "weft/autograd/error.hpp"

namespace weft {

template <class T>
ParallelPass<T>::ParallelPass(NamedParameters<T> parameters, Index max_parts,
                              const TapeOptions& options)
    : elements_(std::move(parameters)) {
  if (max_parts < 1 || max_parts > most_parts)
    fail<ValueError>("parallel pass: parts", concatenate_text("1 … ", most_parts), max_parts);
  for (Index part = 0; part < max_parts; ++part) {
    tapes_.emplace_back(options);
    if (part == 0) continue;
    GradientStore<T>& store = stores_.emplace_back();
    for (const auto& [name, parameter] : elements_.parameters())
      store.try_emplace(parameter, parameter->shape());
    tapes_.back().pass().set_gradient_store(&store);
  }
}

template <class T>
void ParallelPass<T>::begin(Index parts) {
  if (parts < 1 || parts > max_parts())
    fail<ValueError>("parallel pass: parts", concatenate_text("1 … ", max_parts()), parts);
  losses_.assign(static_cast<std::size_t>(parts), 0.0);
  for (GradientStore<T>& store : stores_)
    for (auto& [parameter, sum] : store) sum.clear();
}

template <class T>
void ParallelPass<T>::sum_gradients() {
  if (losses_.size() == 1) return;
  // A parameter that part 0 did not use starts from zeros.
  for (const auto& [name, parameter] : elements_.parameters())
    for (GradientStore<T>& store : stores_)
      if (!store.at(parameter).empty())
        parameter->gradient_sum().gradient(parameter->shape()).zero_if_fresh();
  elements_.prepare("parallel pass");
  parallel_for(elements_.size(), grain_of(1), [&](Index first, Index last) {
    elements_.for_each_part(first, last, [&](std::size_t index, Index begin, Index end) {
      const Parameter<T>* parameter = elements_.parameters()[index].parameter;
      T* total = parameter->gradient_sum().data();
      for (const GradientStore<T>& store : stores_)
        if (const GradientSum<T>& part = store.at(parameter); !part.empty())
          std::transform(total + begin, total + end, part.values().data() + begin, total + begin,
                         std::plus<T>());
    });
  });
}

template class ParallelPass<float>;
template class ParallelPass<double>;

}  // namespace weft
