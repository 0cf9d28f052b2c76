// Operations on each element by itself, with gradients.
#pragma once

#include "weft/autograd/tape.hpp"

namespace weft {

// a + b, a - b, a · b (element by element) and a / b. The shapes broadcast as NumPy's do: aligned
// at the last axis, sizes equal or 1. Throw ShapeError when they do not.
template <class T>
Var<T> add(const Var<T>& a, const Var<T>& b);
template <class T>
Var<T> subtract(const Var<T>& a, const Var<T>& b);
template <class T>
Var<T> multiply(const Var<T>& a, const Var<T>& b);
template <class T>
Var<T> divide(const Var<T>& a, const Var<T>& b);

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

// x · factor
template <class T>
Var<T> scale(const Var<T>& x, double factor);
// -x
template <class T>
Var<T> negate(const Var<T>& x);
template <class T>
Var<T> operator-(const Var<T>& x) {
  return negate(x);
}
// e^x
template <class T>
Var<T> exp(const Var<T>& x);
// The natural logarithm: -infinity at 0, NaN below.
template <class T>
Var<T> log(const Var<T>& x);
// √x: NaN below 0; its gradient at 0 is infinite.
template <class T>
Var<T> sqrt(const Var<T>& x);
// x^exponent
template <class T>
Var<T> power(const Var<T>& x, double exponent);
// |x|; the gradient at 0 is 0.
template <class T>
Var<T> abs(const Var<T>& x);
template <class T>
Var<T> tanh(const Var<T>& x);
// 1 / (1 + e^-x)
template <class T>
Var<T> sigmoid(const Var<T>& x);
// max(x, 0); the gradient at 0 is 0.
template <class T>
Var<T> relu(const Var<T>& x);
// x · Φ(x), the exact Gaussian error linear unit (Hendrycks and Gimpel, 2016), by the error
// function.
template <class T>
Var<T> gelu(const Var<T>& x);
// The same paper's approximation: x/2 · (1 + tanh(√(2/π) (x + 0.044715 x³))). GPT-2's form.
template <class T>
Var<T> gelu_tanh(const Var<T>& x);
// x limited to low … high; the gradient is 0 outside and passes at the limits themselves.
// Throws ValueError unless low ≤ high.
template <class T>
Var<T> clamp(const Var<T>& x, double low, double high);

}  // namespace weft
