#include "weft/layers/freeze.hpp"

#include "weft/autograd/error.hpp"
#include "autograd/internal/checks.hpp"

namespace weft {

template <class T>
Index detail::set_requires_grad(Module<T>& module, const NameFilter& filter, bool requires_grad,
                                const std::string& what) {
  check_function(what + ": filter", filter);
  Index tensors = 0;
  for (const auto& [name, parameter] : named_parameters(module)) {
    if (!filter(name)) continue;
    parameter->set_requires_grad(requires_grad);
    ++tensors;
  }
  if (tensors == 0) fail<ValueError>(what, "at least one parameter", "none of that name");
  return tensors;
}

template <class T>
void TrainableParameters<T>::members(Members<T>& members) const {
  members.type("TrainableParameters");
  for (const auto& [name, parameter] : named_parameters(model_))
    if (parameter->requires_grad()) members(name, *parameter);
}

template class TrainableParameters<float>;
template class TrainableParameters<double>;
template Index detail::set_requires_grad(Module<float>&, const NameFilter&, bool,
                                         const std::string&);
template Index detail::set_requires_grad(Module<double>&, const NameFilter&, bool,
                                         const std::string&);

}  // namespace weft
