// freeze: keeps parameters of a model at their values, for fine-tuning the others.
#pragma once

#include <string>

#include "weft/autograd/export.hpp"
#include "weft/layers/module.hpp"
#include "weft/layers/name_filter.hpp"

namespace weft {

// Parameters of the module get no gradient (torch's requires_grad_(False)): optimizers keep them as
// they are, and backward does not compute what only they would need. `name` is that of a parameter
// or of a child, "encoder.0" for instance, with all parameters below it. Returns the number of
// tensors. Throws ValueError when there are none of that name, or none that the filter selects.
template <class T>
WEFT_API Index freeze(Module<T>& module);
template <class T>
WEFT_API Index freeze(Module<T>& module, const std::string& name);
template <class T>
WEFT_API Index freeze(Module<T>& module, const NameFilter& filter);

// The inverse of `freeze`.
template <class T>
WEFT_API Index unfreeze(Module<T>& module);
template <class T>
WEFT_API Index unfreeze(Module<T>& module, const std::string& name);
template <class T>
WEFT_API Index unfreeze(Module<T>& module, const NameFilter& filter);

}  // namespace weft
