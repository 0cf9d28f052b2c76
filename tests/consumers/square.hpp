// square: an operation of one's own.
#pragma once

#include <weft/autograd.hpp>

using namespace weft;

// Forward:  y = x².
// Backward: dx = 2 x dy.
template <class T>
Var<T> square(const Var<T>& x) {
  Tensor<T> y = x.tape().uninitialized(x.shape());
  transform([](T v) { return v * v; }, y, x.value());
  return x.tape().record("square", y, {x.node()},
                         [x = x.node(), v = x.value()](Tape<T>& backward, const Tensor<T>& dy) {
                           backward.gradient(x).add([](T a, T g) { return 2 * a * g; }, v, dy);
                         });
}
