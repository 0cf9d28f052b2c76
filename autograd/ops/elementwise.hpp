// Element-wise operations, with gradients.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

// Computes `y = factor · x` for each element of x, of any shape (torch.mul).
//   Var y = scale(x, 0.5);  // or 0.5 * x
template <class T>
WEFT_API Var<T> scale(const Var<T>& x, double factor);
// Computes `y = -x` for each element of x, of any shape (torch.neg).
//   Var y = negate(x);  // or -x
template <class T>
Var<T> negate(const Var<T>& x) {
  return scale(x, -1.0);
}
// Returns `negate(x)`, in the shape of x.
template <class T>
Var<T> operator-(const Var<T>& x) {
  return negate(x);
}
// Computes `y = e^x` for each element of x, of any shape (torch.exp).
//   Var odds = exp(x);
template <class T>
WEFT_API Var<T> exp(const Var<T>& x);
// Computes the natural logarithm `y = log(x)` for each element of x, of any shape: -infinity at 0,
// NaN below 0 (torch.log).
//   Var y = log(clamp(x, 1e-6, 1.0));
template <class T>
WEFT_API Var<T> log(const Var<T>& x);
// Computes `y = log(1 + x)` for each element of x, of any shape; accurate even for small x
// (torch.log1p).
//   Var y = log1p(exp(-abs(x)));
template <class T>
WEFT_API Var<T> log1p(const Var<T>& x);
// Computes `y = √x` for each element of x, of any shape: NaN below 0. The gradient at 0 is infinite
// (torch.sqrt).
//   Var norm = sqrt(sum(x * x, {-1}));  // x [2, 3], norm [2]
template <class T>
WEFT_API Var<T> sqrt(const Var<T>& x);
// Computes `y = x^exponent` for each element of x, of any shape (torch.pow). As with std::pow, the
// result is NaN for x < 0 unless the exponent is an integer, and infinite for x = 0 and an exponent
// below 0. Throws nothing.
//   Var y = power(tape.constant(Tensor<float>({2}, {2, 3})), 2);  // [4, 9]
template <class T>
WEFT_API Var<T> power(const Var<T>& x, double exponent);
// Computes `y = |x|` for each element of x, of any shape; the gradient at 0 is 0 (torch.abs).
//   Var error = mean(abs(x - target));
template <class T>
WEFT_API Var<T> abs(const Var<T>& x);
// Computes `y = min(max(x, low), high)` for each element of x, of any shape (torch.clamp). The
// gradient is 0 outside [low, high], and passes unchanged at low and high. Throws ValueError unless
// low ≤ high.
//   Var y = clamp(x, -1.0, 1.0);
template <class T>
WEFT_API Var<T> clamp(const Var<T>& x, double low, double high);

}  // namespace weft
