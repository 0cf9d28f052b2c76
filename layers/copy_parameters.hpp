// copy_parameters: copies parameters from one model to another.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/layers/module.hpp"
#include "weft/layers/name_filter.hpp"

namespace weft {

// Copies the values of the parameters of `from` to the parameters of the same names in `to`, like
// torch's to.load_state_dict(from.state_dict()), but without buffers. The models may differ in T.
// With a filter, copies only the parameters that it selects. Returns the number of copied tensors.
// Throws ValueError, listing the names, if a selected parameter exists in only one of the models.
// Throws ValueError if no parameter is selected, and ShapeError if shapes differ. On error, `to` is
// unchanged.
//   copy_parameters(pretrained, model, below("encoder"));  // all parameters of "encoder"
template <class From, class To>
WEFT_API Index copy_parameters(const Module<From>& from, Module<To>& to,
                               const NameFilter& filter = {});

}  // namespace weft
