// broadcast_state: gives the state of the first process to all.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/layers/module.hpp"
#include "weft/train/parallel/process_group.hpp"
#include "weft/train/weights/state.hpp"

namespace weft {

// The values that the first process has become those of all, which have objects with the same
// tensors. For what a program reads before it trains, such as a configuration. Collective.
template <class T>
WEFT_API void broadcast_state(ProcessGroup& processes, Stateful<T>& object);
// The same for the parameters and buffers of a model.
template <class T>
WEFT_API void broadcast_state(ProcessGroup& processes, Module<T>& model);

}  // namespace weft
