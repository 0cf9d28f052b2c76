// Sums, means, maxima, minima and variances, with gradients.
#pragma once

#include <initializer_list>

#include "weft/autograd/export.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

// Over all elements: a scalar, shape []. An empty sum is 0; mean, max and min throw ShapeError
// when there are no elements to reduce.
template <class T>
WEFT_API Var<T> sum(const Var<T>& x);
template <class T>
WEFT_API Var<T> mean(const Var<T>& x);
template <class T>
WEFT_API Var<T> max(const Var<T>& x);
template <class T>
WEFT_API Var<T> min(const Var<T>& x);
// Σ(x - mean)² / (n - correction): correction 1 as in torch.var, 0 as in layer norm. Throws
// ShapeError unless n > correction, ValueError unless correction ≥ 0.
template <class T>
WEFT_API Var<T> variance(const Var<T>& x, Index correction = 1);

// Over some axes (negative ones count from the end), which are removed or, with `keep_axes`, kept
// with size 1. Elements that tie for the maximum or minimum share its gradient equally (as
// torch.amax). Also throw ShapeError for an axis that x does not have or that is given twice.
template <class T>
WEFT_API Var<T> sum(const Var<T>& x, std::initializer_list<Index> axes, bool keep_axes = false);
template <class T>
WEFT_API Var<T> mean(const Var<T>& x, std::initializer_list<Index> axes, bool keep_axes = false);
template <class T>
WEFT_API Var<T> max(const Var<T>& x, std::initializer_list<Index> axes, bool keep_axes = false);
template <class T>
WEFT_API Var<T> min(const Var<T>& x, std::initializer_list<Index> axes, bool keep_axes = false);
template <class T>
WEFT_API Var<T> variance(const Var<T>& x, std::initializer_list<Index> axes, Index correction = 1,
                         bool keep_axes = false);

}  // namespace weft
