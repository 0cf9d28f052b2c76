// Sliding windows over a sequence, with gradients: the input of a convolution's matrix product.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/autograd/ops/mask.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

struct UnfoldOptions {
  Index size = 1;      // the number of positions in a window
  Index dilation = 1;  // the distance between neighboring positions of a window
  // The distance between the starts of consecutive windows.
  Index stride = 1;
  Index before = 0;  // the number of zeros added before each sequence
  Index after = 0;   // the number of zeros added after each sequence

  // Returns the number of positions from the first to the last of a window, inclusive.
  Index span() const { return dilation * (size - 1) + 1; }
};

// Throws ValueError unless size, dilation and stride are ≥ 1 and the padding is ≥ 0. Throws
// ShapeError for a span or padding larger than a shape can be. The messages start with `what`.
WEFT_API void check_unfold(const char* what, const UnfoldOptions& options);

// Concatenates the vectors of x [batch, time, channels] in each window (torch's unfold). Row w of
// the result [batch, windows, size · channels] consists of the following vectors for 0 ≤ j < size:
//   y[w, j] = x[w · stride + j · dilation - before]
//   windows = ⌊(time + before + after - span) / stride⌋ + 1
// With `valid_lens` [batch], x past the end of a sequence (even NaN) counts as zeros and gets no
// gradient. Throws ShapeError unless x has three axes and a window fits. Throws ValueError for
// lengths outside [0, time], and what `check_unfold` throws.
//   Var y = unfold(x, {.size = 3, .before = 1, .after = 1});  // x [2, 5, 8], y [2, 5, 24]
template <class T>
WEFT_API Var<T> unfold(const Var<T>& x, const UnfoldOptions& options,
                       const ValidLens& valid_lens = {});

}  // namespace weft
