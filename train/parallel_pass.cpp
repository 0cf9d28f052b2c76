#include "weft/train/parallel_pass.hpp"

#include "weft/autograd/error.hpp"

namespace weft {

template <class T>
ParallelPass<T>::ParallelPass(NamedParameters<T> parameters, Index most_parts,
                              const TapeOptions& options)
    : elements_(std::move(parameters)) {
  if (most_parts < 1) fail<ValueError>("parallel pass: parts", "a number ≥ 1", most_parts);
  for (Index part = 0; part < most_parts; ++part) {
    TapeOptions own = options;
    own.part = part;
    tapes_.emplace_back(own);
  }
}

template <class T>
void ParallelPass<T>::begin(Index parts) {
  if (parts < 1 || parts > most_parts())
    fail<ValueError>("parallel pass: parts", concatenate_text("1 … ", most_parts()), parts);
  losses_.assign(static_cast<std::size_t>(parts), 0.0);
  for (const auto& [name, parameter] : elements_.parameters())
    parameter->reserve_parts(most_parts());
}

template <class T>
void ParallelPass<T>::add_up() {
  if (losses_.size() == 1) return;
  // A parameter that part 0 did not use starts from zeros.
  for (const auto& [name, parameter] : elements_.parameters())
    for (Index part = 1; part < most_parts(); ++part)
      if (parameter->has_grad(part)) parameter->grad();
  parallel_for(elements_.size(), grain_of(1), [&](Index first, Index last) {
    elements_.for_each_part(first, last, [&](std::size_t index, Index begin, Index end) {
      elements_.parameters()[index].parameter->add_up_parts(begin, end);
    });
  });
}

template class ParallelPass<float>;
template class ParallelPass<double>;

}  // namespace weft
