// copy_parameters: copies parameters from one model to another.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/layers/module.hpp"
#include "weft/layers/name_filter.hpp"

namespace weft {

// Copies the values of the parameters of `from` to those of the same names in `to`, as torch's
// to.load_state_dict(from.state_dict()), also between models of float and double. With a filter,
// only those that it selects. Returns the number of tensors. Throws ValueError, listing the names,
// when a selected parameter is in one of the models only or none is selected, and ShapeError when
// shapes differ; `to` is then unchanged.
//   copy_parameters(pretrained, model, below("encoder"));  // all that "encoder" has
template <class From, class To>
WEFT_API Index copy_parameters(const Module<From>& from, Module<To>& to,
                               const NameFilter& filter = {});

}  // namespace weft
