#include "weft/layers/freeze.hpp"

#include <unordered_map>

#include "weft/autograd/error.hpp"
#include "autograd/internal/checks.hpp"

namespace weft {

template <class T>
Index detail::set_requires_grad(Module<T>& module, const NameFilter& filter, bool requires_grad,
                                const std::string& what) {
  check_function(what + ": filter", filter);
  const NameFilter selects = with_tied_names(module, filter);
  Index tensors = 0;
  for (const auto& [name, parameter] : named_parameters(module)) {
    if (!selects(name)) continue;
    parameter->set_requires_grad(requires_grad);
    ++tensors;
  }
  if (tensors == 0) fail<ValueError>(what, "at least one selected parameter", 0);
  return tensors;
}

template <class T>
void TrainableParameters<T>::members(Members<T>& members) const {
  members.type("TrainableParameters");
  std::unordered_map<std::string, const Parameter<T>*> trained;
  for (const auto& [name, parameter] : named_parameters(model_))
    if (parameter->requires_grad()) {
      trained.emplace(name, parameter);
      members(name, *parameter);
    }
  for (const auto& [name, first] : tied_names(model_))
    if (const auto found = trained.find(first); found != trained.end())
      members(name, *found->second);
}

template class TrainableParameters<float>;
template class TrainableParameters<double>;
template Index detail::set_requires_grad(Module<float>&, const NameFilter&, bool,
                                         const std::string&);
template Index detail::set_requires_grad(Module<double>&, const NameFilter&, bool,
                                         const std::string&);

}  // namespace weft
