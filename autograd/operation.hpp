// Helpers for writing operations. An operation computes its value and records a backward function,
// which turns the gradient of the value into gradients of the inputs:
//
//   // Forward:  y = x².
//   // Backward: dx = 2 x dy.
//   template <class T>
//   Var<T> square(const Var<T>& x) {
//     Tensor<T> y = x.tape().uninitialized(x.shape());
//     transform([](T v) { return v * v; }, y, x.value());
//     return x.tape().record(
//         "square", y, {x.node()},
//         [x = x.node(), value = x.value()](Tape<T>& backward, const Tensor<T>& dy) {
//           backward.gradient(x).add([](T v, T g) { return 2 * v * g; }, value, dy);
//         });
//   }
#pragma once

#include "weft/autograd/parallel.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

// Returns the tape that the variables, of any shapes, share. Throws Error if they are on different
// tapes; the message starts with `operation`.
template <class T, class... Vars>
Tape<T>& tape_of(const char* operation, const Var<T>& first, const Vars&... others) {
  if (((&others.tape() != &first.tape()) || ...))
    throw Error(str_cat(operation,
                        ": expected inputs on one tape, got inputs on different tapes (write "
                        "tape.constant(x) for a tensor x)"));
  return first.tape();
}

// Sets y[i] = f(inputs[i]...) for every element, in parallel. Throws ShapeError unless every input
// has as many elements as y.
template <class T, class Function, class... Inputs>
void transform(const Function& f, Tensor<T>& y, const Inputs&... inputs) {
  Gradient<T>{y.values(), true, true}.add(f, inputs...);
}

}  // namespace weft
