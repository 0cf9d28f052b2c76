// Pooling over time: the maximum or the mean of each window, with gradients.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/autograd/ops/unfold.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

// Returns the maximum of each channel of x [batch, time, channels] in each window, [batch, windows,
// channels] (torch's max_pool1d, which has the channels before the time):
//   y[w] = max_j x[w · stride + j · dilation - before],  0 ≤ j < size
//   windows = ⌊(time + before + after - span) / stride⌋ + 1
// Padding is never the maximum, and NaN always is. The gradient goes to the first position of the
// maximum. Throws ShapeError unless x has three axes and a window fits. Throws ValueError if a
// window consists of padding only, and what `check_unfold` throws.
//   Var y = max_pool(x, {.size = 2, .stride = 2});  // x [2, 6, 8], y [2, 3, 8]
template <class T>
WEFT_API Var<T> max_pool(const Var<T>& x, const UnfoldOptions& options);

// Returns the mean of each channel of x [batch, time, channels] in each window, [batch, windows,
// channels] (torch's avg_pool1d with count_include_pad=False, which has the channels before the
// time). Padding does not count:
//   y[w] = Σ_j x[w · stride + j · dilation - before] / n_w,  0 ≤ j < size
// where n_w is the number of positions of window w in the sequence. See `max_pool` for the number
// of windows. Throws the same exceptions as `max_pool`.
//   Var y = average_pool(x, {.size = 2, .stride = 2});  // x [2, 6, 8], y [2, 3, 8]
template <class T>
WEFT_API Var<T> average_pool(const Var<T>& x, const UnfoldOptions& options);

}  // namespace weft
