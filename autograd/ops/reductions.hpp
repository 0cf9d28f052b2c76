// Sums, means, maxima, minima and variances, with gradients.
#pragma once

#include <initializer_list>

#include "weft/autograd/export.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

// Returns the sum of all elements, `y = Σ_i x_i`, as a scalar [] (torch.sum); 0 if there are no
// elements.
//   Var total = sum(x);
template <class T>
WEFT_API Var<T> sum(const Var<T>& x);
// Returns the mean of all n elements, `y = 1 / n · Σ_i x_i`, as a scalar [] (torch.mean). Throws
// ShapeError if there are no elements.
//   Var loss = mean(abs(x - target));
template <class T>
WEFT_API Var<T> mean(const Var<T>& x);
// Returns the maximum of all elements, `y = max(x)`, as a scalar [] (torch.amax). Throws ShapeError
// if there are no elements.
//   Var largest = max(x);
template <class T>
WEFT_API Var<T> max(const Var<T>& x);
// Returns the minimum of all elements, `y = min(x)`, as a scalar [] (torch.amin). Throws ShapeError
// if there are no elements.
//   Var smallest = min(x);
template <class T>
WEFT_API Var<T> min(const Var<T>& x);
// Returns the variance of all n elements as a scalar [],
//   y = Σ_i (x_i - mean(x))² / (n - correction)
// The default correction of 1 is torch.var's; layer normalization uses 0. Throws ShapeError unless
// n > correction, and ValueError unless correction ≥ 0.
//   Var y = variance(tape.constant(Tensor<float>({3}, {1, 2, 3})));  // 1
template <class T>
WEFT_API Var<T> variance(const Var<T>& x, Index correction = 1);

// Sums over some axes of x, of any shape: `y = Σ x` (torch.sum). Negative axes count from the end.
// The axes are removed or, with `keep_axes`, kept with size 1. Throws ShapeError for an axis that x
// does not have or that is given twice.
//   Var y = sum(x, {0, 2});  // x [2, 3, 4], y [3]
template <class T>
WEFT_API Var<T> sum(const Var<T>& x, std::initializer_list<Index> axes, bool keep_axes = false);
// Averages over some axes of x, of any shape: `y = mean(x)` (torch.mean). Negative axes count from
// the end. The axes are removed or, with `keep_axes`, kept with size 1. Throws ShapeError for an
// axis that x does not have or that is given twice, and if there are no elements to average.
//   Var y = mean(x, {-1}, true);  // x [2, 3, 4], y [2, 3, 1]
template <class T>
WEFT_API Var<T> mean(const Var<T>& x, std::initializer_list<Index> axes, bool keep_axes = false);
// Returns the maximum over some axes of x, of any shape: `y = max(x)` (torch.amax). Negative axes
// count from the end. The axes are removed or, with `keep_axes`, kept with size 1. Elements that
// tie share the gradient equally. Throws ShapeError for an axis that x does not have or that is
// given twice, and if there are no elements to compare.
//   Var y = max(x, {-1});  // x [2, 3, 4], y [2, 3]
template <class T>
WEFT_API Var<T> max(const Var<T>& x, std::initializer_list<Index> axes, bool keep_axes = false);
// Returns the minimum over some axes of x, of any shape: `y = min(x)` (torch.amin). Negative axes
// count from the end. The axes are removed or, with `keep_axes`, kept with size 1. Elements that
// tie share the gradient equally. Throws ShapeError for an axis that x does not have or that is
// given twice, and if there are no elements to compare.
//   Var y = min(x, {-1});  // x [2, 3, 4], y [2, 3]
template <class T>
WEFT_API Var<T> min(const Var<T>& x, std::initializer_list<Index> axes, bool keep_axes = false);
// Returns the variance over some axes of x, of any shape: `y = variance(x)` (torch.var). Negative
// axes count from the end. The axes are removed or, with `keep_axes`, kept with size 1. Throws
// ShapeError for an axis that x does not have or that is given twice, and unless there are more
// than `correction` elements. Throws ValueError unless correction ≥ 0.
//   Var y = variance(x, {-1}, 0);  // x [2, 3, 4], y [2, 3]
template <class T>
WEFT_API Var<T> variance(const Var<T>& x, std::initializer_list<Index> axes, Index correction = 1,
                         bool keep_axes = false);

}  // namespace weft
