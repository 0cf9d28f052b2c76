// no_grad: applies operations to plain tensors, without gradients.
#pragma once

#include "weft/autograd/tape.hpp"

namespace weft {

// Returns the value of function(x...), called with the tensors, of any shapes, as Vars on a tape
// that records nothing, with dropout off. All tensors are Tensor<T>. Throws whatever `function`
// throws.
//   const Tensor<float> y = no_grad([](const auto& x) { return softmax(x); }, X);
template <class Function, class T, class... Tensors>
Tensor<T> no_grad(const Function& function, const Tensor<T>& first, const Tensors&... others) {
  Tape<T> tape = Tape<T>::inference();
  return function(tape.constant(first), tape.constant(others)...).value();
}

}  // namespace weft
