// broadcast_state: copies the state of the root process to all processes.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/layers/module.hpp"
#include "weft/train/parallel/process_group.hpp"
#include "weft/train/weights/state.hpp"

namespace weft {

// Collective: copies the state of `object` in the root process to all processes, for example a
// configuration that only the root has read. The object must have the same tensors, strings and
// numbers in all processes. Throws Error if another process cannot be reached.
//   broadcast_state(processes, optimizer);
template <class T>
WEFT_API void broadcast_state(ProcessGroup& processes, Stateful<T>& object);
// Collective: copies the parameters and buffers of `model` in the root process to all processes.
// They must have the same shapes in all processes. Throws Error if another process cannot be
// reached.
template <class T>
WEFT_API void broadcast_state(ProcessGroup& processes, Module<T>& model);

}  // namespace weft
