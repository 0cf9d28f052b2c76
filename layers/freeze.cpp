#include "weft/layers/freeze.hpp"

#include "weft/autograd/error.hpp"

namespace weft {
namespace {

template <class T>
Index set_requires_grad(Module<T>& module, const NameFilter& filter, bool requires_grad,
                        const std::string& what) {
  if (!filter) fail<ValueError>(what, "a function that selects parameters", "none");
  Index tensors = 0;
  for (const auto& [name, parameter] : named_parameters(module)) {
    if (!filter(name)) continue;
    parameter->set_requires_grad(requires_grad);
    ++tensors;
  }
  if (tensors == 0) fail<ValueError>(what, "at least one parameter", "none of that name");
  return tensors;
}

bool everything(const std::string&) { return true; }

}  // namespace

template <class T>
Index freeze(Module<T>& module) {
  return set_requires_grad(module, everything, false, "freeze");
}
template <class T>
Index freeze(Module<T>& module, const std::string& name) {
  return set_requires_grad(module, below(name), false, "freeze " + name);
}
template <class T>
Index freeze(Module<T>& module, const NameFilter& filter) {
  return set_requires_grad(module, filter, false, "freeze");
}

template <class T>
Index unfreeze(Module<T>& module) {
  return set_requires_grad(module, everything, true, "unfreeze");
}
template <class T>
Index unfreeze(Module<T>& module, const std::string& name) {
  return set_requires_grad(module, below(name), true, "unfreeze " + name);
}
template <class T>
Index unfreeze(Module<T>& module, const NameFilter& filter) {
  return set_requires_grad(module, filter, true, "unfreeze");
}

template Index freeze(Module<float>&);
template Index freeze(Module<float>&, const std::string&);
template Index freeze(Module<float>&, const NameFilter&);
template Index freeze(Module<double>&);
template Index freeze(Module<double>&, const std::string&);
template Index freeze(Module<double>&, const NameFilter&);
template Index unfreeze(Module<float>&);
template Index unfreeze(Module<float>&, const std::string&);
template Index unfreeze(Module<float>&, const NameFilter&);
template Index unfreeze(Module<double>&);
template Index unfreeze(Module<double>&, const std::string&);
template Index unfreeze(Module<double>&, const NameFilter&);

}  // namespace weft
