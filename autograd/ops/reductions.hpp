// Sums, means, maxima, minima and variances, with gradients.
#pragma once

#include <initializer_list>

#include "weft/autograd/export.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

// `y = Σ_i x_i` over all elements: a scalar, shape []; 0 without elements (torch.sum).
//   Var total = sum(x);
template <class T>
WEFT_API Var<T> sum(const Var<T>& x);
// `y = 1 / n · Σ_i x_i` over all n elements: a scalar, shape [] (torch.mean). Throws ShapeError
// when there are none.
//   Var loss = mean(abs(x - target));
template <class T>
WEFT_API Var<T> mean(const Var<T>& x);
// `y = max(x)` over all elements: a scalar, shape [] (torch.amax). Throws ShapeError when there are
// none.
//   Var largest = max(x);
template <class T>
WEFT_API Var<T> max(const Var<T>& x);
// `y = min(x)` over all elements: a scalar, shape [] (torch.amin). Throws ShapeError when there are
// none.
//   Var smallest = min(x);
template <class T>
WEFT_API Var<T> min(const Var<T>& x);
// Over all n elements: a scalar, shape [],
//   y = Σ_i (x_i - mean(x))² / (n - correction)
// with correction 1 as in torch.var, 0 as in layer norm. Throws ShapeError unless n > correction,
// ValueError unless correction ≥ 0.
//   Var y = variance(tape.constant(Tensor<float>({3}, {1, 2, 3})));  // 1
template <class T>
WEFT_API Var<T> variance(const Var<T>& x, Index correction = 1);

// `y = Σ x` over some axes of x, of any shape (negative ones count from the end), which are removed
// or, with `keep_axes`, kept with size 1 (torch.sum). Throws ShapeError for an axis that x does not
// have or that is given twice.
//   Var y = sum(x, {0, 2});  // x [2, 3, 4], y [3]
template <class T>
WEFT_API Var<T> sum(const Var<T>& x, std::initializer_list<Index> axes, bool keep_axes = false);
// `y = mean(x)` over some axes: see `sum` and `mean` above for shapes and errors.
//   Var y = mean(x, {-1}, true);  // x [2, 3, 4], y [2, 3, 1]
template <class T>
WEFT_API Var<T> mean(const Var<T>& x, std::initializer_list<Index> axes, bool keep_axes = false);
// `y = max(x)` over some axes: see `sum` and `max` above for shapes and errors. Elements that tie
// share the gradient equally (torch.amax).
//   Var y = max(x, {-1});  // x [2, 3, 4], y [2, 3]
template <class T>
WEFT_API Var<T> max(const Var<T>& x, std::initializer_list<Index> axes, bool keep_axes = false);
// `y = min(x)` over some axes: see `sum` and `min` above for shapes and errors. Elements that tie
// share the gradient equally (torch.amin).
//   Var y = min(x, {-1});  // x [2, 3, 4], y [2, 3]
template <class T>
WEFT_API Var<T> min(const Var<T>& x, std::initializer_list<Index> axes, bool keep_axes = false);
// `y = variance(x)` over some axes: see `sum` and `variance` above for shapes and errors
// (torch.var).
//   Var y = variance(x, {-1}, 0);  // x [2, 3, 4], y [2, 3]
template <class T>
WEFT_API Var<T> variance(const Var<T>& x, std::initializer_list<Index> axes, Index correction = 1,
                         bool keep_axes = false);

}  // namespace weft
