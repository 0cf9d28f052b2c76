// Operations on each element by itself, with gradients.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

// `y = factor · x` for each element of x, of any shape (torch.mul).
//   Var y = scale(x, 0.5);  // or 0.5 * x
template <class T>
WEFT_API Var<T> scale(const Var<T>& x, double factor);
// `y = -x` for each element of x, of any shape (torch.neg).
//   Var y = negate(x);  // or -x
template <class T>
Var<T> negate(const Var<T>& x) {
  return scale(x, -1.0);
}
// `negate(x)`, of x's shape.
template <class T>
Var<T> operator-(const Var<T>& x) {
  return negate(x);
}
// `y = e^x` for each element of x, of any shape (torch.exp).
//   Var odds = exp(x);
template <class T>
WEFT_API Var<T> exp(const Var<T>& x);
// `y = log(x)`, the natural logarithm, for each element of x, of any shape: -infinity at 0, NaN
// below (torch.log).
//   Var y = log(clamp(x, 1e-6, 1.0));
template <class T>
WEFT_API Var<T> log(const Var<T>& x);
// `y = log(1 + x)` for each element of x, of any shape; accurate also for small x (torch.log1p).
//   Var y = log1p(exp(-abs(x)));
template <class T>
WEFT_API Var<T> log1p(const Var<T>& x);
// `y = √x` for each element of x, of any shape: NaN below 0; its gradient at 0 is infinite
// (torch.sqrt).
//   Var norm = sqrt(sum(x * x, {-1}));  // x [2, 3], norm [2]
template <class T>
WEFT_API Var<T> sqrt(const Var<T>& x);
// `y = x^exponent` for each element of x, of any shape (torch.pow). As std::pow: NaN for x < 0
// unless the exponent is an integer, infinite for x = 0 and an exponent below 0. Throws nothing.
//   Var y = power(tape.constant(Tensor<float>({2}, {2, 3})), 2);  // [4, 9]
template <class T>
WEFT_API Var<T> power(const Var<T>& x, double exponent);
// `y = |x|` for each element of x, of any shape; the gradient at 0 is 0 (torch.abs).
//   Var error = mean(abs(x - target));
template <class T>
WEFT_API Var<T> abs(const Var<T>& x);
// `y = min(max(x, low), high)` for each element of x, of any shape (torch.clamp); the gradient is 0
// outside and passes at the limits themselves. Throws ValueError unless low ≤ high.
//   Var y = clamp(x, -1.0, 1.0);
template <class T>
WEFT_API Var<T> clamp(const Var<T>& x, double low, double high);

}  // namespace weft
