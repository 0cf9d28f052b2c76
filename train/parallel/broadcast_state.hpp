// broadcast_state: gives the state of the first process to all.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/layers/module.hpp"
#include "weft/train/parallel/process_group.hpp"
#include "weft/train/weights/state.hpp"

namespace weft {

// The values of an object in the first process become those of all, which have objects with the
// same tensors, texts and numbers. For what a program reads before it trains, such as a
// configuration. Collective. Throws Error when another process cannot be reached.
//   broadcast_state(processes, optimizer);
template <class T>
WEFT_API void broadcast_state(ProcessGroup& processes, Stateful<T>& object);
// The same for the parameters and buffers of a model, which have the same shapes in all processes.
template <class T>
WEFT_API void broadcast_state(ProcessGroup& processes, Module<T>& model);

}  // namespace weft
