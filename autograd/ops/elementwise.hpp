// Operations on each element by itself, with gradients.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

// x · factor
template <class T>
WEFT_API Var<T> scale(const Var<T>& x, double factor);
// -x
template <class T>
Var<T> negate(const Var<T>& x) {
  return scale(x, -1.0);
}
template <class T>
Var<T> operator-(const Var<T>& x) {
  return negate(x);
}
// e^x
template <class T>
WEFT_API Var<T> exp(const Var<T>& x);
// The natural logarithm: -infinity at 0, NaN below.
template <class T>
WEFT_API Var<T> log(const Var<T>& x);
// log(1 + x), accurate also for small x.
template <class T>
WEFT_API Var<T> log1p(const Var<T>& x);
// √x: NaN below 0; its gradient at 0 is infinite.
template <class T>
WEFT_API Var<T> sqrt(const Var<T>& x);
// x^exponent
template <class T>
WEFT_API Var<T> power(const Var<T>& x, double exponent);
// |x|; the gradient at 0 is 0.
template <class T>
WEFT_API Var<T> abs(const Var<T>& x);
// x limited to low … high; the gradient is 0 outside and passes at the limits themselves.
// Throws ValueError unless low ≤ high.
template <class T>
WEFT_API Var<T> clamp(const Var<T>& x, double low, double high);

}  // namespace weft
