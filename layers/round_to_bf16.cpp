#include "weft/layers/round_to_bf16.hpp"

namespace weft {

template <class T>
Index round_to_bf16(Module<T>& module) {
  Index matrices = 0;
  for (const auto& [name, parameter] : named_parameters(module)) {
    if (parameter->shape().rank() != 2) continue;
    parameter->set_value(parameter->value().rounded_to_bf16());
    ++matrices;
  }
  return matrices;
}

template Index round_to_bf16(Module<float>&);
template Index round_to_bf16(Module<double>&);

}  // namespace weft
