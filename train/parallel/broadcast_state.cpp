#include "weft/train/parallel/broadcast_state.hpp"

#include <concepts>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "train/weights/internal/visit_state.hpp"

namespace weft {

template <class T>
void broadcast_state(ProcessGroup& processes, Module<T>& model) {
  for (const auto& [name, parameter] : named_parameters(model))
    processes.broadcast(std::as_writable_bytes(parameter->values()));
  for (const auto& [name, buffer] : named_buffers(model))
    processes.broadcast(std::as_writable_bytes(buffer->values()));
}

template <class T>
void broadcast_state(ProcessGroup& processes, Stateful<T>& object) {
  visit_state(object, [&processes]<class Value>(const std::string&, Value& value) {
    if constexpr (std::same_as<Value, std::string>)
      value = processes.broadcast(std::move(value));
    else if constexpr (std::is_arithmetic_v<Value>)
      processes.broadcast(std::as_writable_bytes(std::span(&value, 1)));
    else
      processes.broadcast(std::as_writable_bytes(value.values()));
  });
}

template void broadcast_state(ProcessGroup&, Module<float>&);
template void broadcast_state(ProcessGroup&, Module<double>&);
template void broadcast_state(ProcessGroup&, Stateful<float>&);
template void broadcast_state(ProcessGroup&, Stateful<double>&);

}  // namespace weft
