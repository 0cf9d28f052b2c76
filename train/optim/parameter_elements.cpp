#include "weft/train/optim/parameter_elements.hpp"

#include <unordered_set>

#include "weft/autograd/error.hpp"

namespace weft {

namespace {

template <class T>
void check_exists(const std::string& what, const NamedParameter<T>& named) {
  if (!named.parameter.exists())
    fail<Error>(str_cat(what, "parameter ", named.name), "an existing parameter",
                "a removed or replaced parameter (see merge_lora and remove_lora)");
}

}  // namespace

template <class T>
ParameterElements<T>::ParameterElements(NamedParameters<T> parameters,
                                        const Selects& is_undivided) {
  std::unordered_set<const Parameter<T>*> known;
  for (NamedParameter<T>& named : parameters) {
    if (!named.parameter) fail<Error>(named.name, "a parameter", "a null pointer");
    check_exists("", named);
    if (!known.insert(named.parameter).second) continue;
    shapes_.push_back(named.parameter->shape());
    undivided_.push_back(is_undivided && is_undivided(named.name, shapes_.back()));
    sequence_.add({parameters_.size(), 0, named.parameter->size()});
    parameters_.push_back(std::move(named));
  }
  divide();
}

// Divides the elements into ranges of equal size, except that a range that would end within an
// undivided parameter ends with it.
template <class T>
void ParameterElements<T>::divide() {
  const Index range_size = std::max<Index>(grain_of(1), (size() + most_ranges - 1) / most_ranges);
  range_begins_ = {0};
  for (Index end = 0; end < size();) {
    end = std::min(end + range_size - end % range_size, size());
    sequence_.for_each_part(end - 1, end, [&](std::size_t i, Index, Index last) {
      if (undivided_[i]) end += shapes_[i].elements() - last;
    });
    range_begins_.push_back(end);
  }
}

template <class T>
void ParameterElements<T>::check_exist(const std::string& what) const {
  for (const NamedParameter<T>& named : parameters_) check_exists(what + ": ", named);
}

template <class T>
void ParameterElements<T>::check_shapes(const std::string& what) const {
  check_exist(what);
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const auto& [name, parameter] = parameters_[i];
    const auto check = [&, &named = name](const char* kind, const Shape& shape) {
      if (shape != shapes_[i])
        fail<ShapeError>(str_cat(what, ": ", kind, named), shapes_[i], shape);
    };
    check("parameter ", parameter->shape());
    if (const GradientAccumulator<T>& gradient = parameter->gradient_sum(); !gradient.empty())
      check("gradient of ", gradient.values().shape());
  }
}

template <class T>
void ParameterElements<T>::prepare(const std::string& what) const {
  check_shapes(what);
  for (const auto& [name, parameter] : parameters_) {
    GradientAccumulator<T>& gradient = parameter->gradient_sum();
    if (gradient.empty()) continue;
    parameter->values();
    gradient.data();
  }
}

template class ParameterElements<float>;
template class ParameterElements<double>;

}  // namespace weft
