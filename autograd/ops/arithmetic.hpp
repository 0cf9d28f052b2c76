// Arithmetic between tensors, with broadcasting and gradients.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

// a + b, a - b, a · b (element by element) and a / b. The shapes broadcast as NumPy's do: aligned
// at the last axis, sizes equal or 1. Throw ShapeError when they do not.
template <class T>
WEFT_API Var<T> add(const Var<T>& a, const Var<T>& b);
template <class T>
WEFT_API Var<T> subtract(const Var<T>& a, const Var<T>& b);
template <class T>
WEFT_API Var<T> multiply(const Var<T>& a, const Var<T>& b);
template <class T>
WEFT_API Var<T> divide(const Var<T>& a, const Var<T>& b);

template <class T>
Var<T> operator+(const Var<T>& a, const Var<T>& b) {
  return add(a, b);
}
template <class T>
Var<T> operator-(const Var<T>& a, const Var<T>& b) {
  return subtract(a, b);
}
template <class T>
Var<T> operator*(const Var<T>& a, const Var<T>& b) {
  return multiply(a, b);
}
template <class T>
Var<T> operator/(const Var<T>& a, const Var<T>& b) {
  return divide(a, b);
}

}  // namespace weft
