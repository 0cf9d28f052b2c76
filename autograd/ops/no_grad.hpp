// no_grad: operations on plain tensors, without gradients.
#pragma once

#include "weft/autograd/tape.hpp"

namespace weft {

// The value of function(x...), called with Vars of the tensors on a tape that records nothing:
// softmax of a tensor is `no_grad([](const auto& x) { return softmax(x); }, tensor)`. All of
// `tensors` are Tensor<T>; dropout is off. Throws whatever `function` throws.
template <class Function, class T, class... Tensors>
Tensor<T> no_grad(const Function& function, const Tensor<T>& first, const Tensors&... others) {
  Tape<T> tape = Tape<T>::inference();
  return function(tape.constant(first), tape.constant(others)...).value();
}

}  // namespace weft
