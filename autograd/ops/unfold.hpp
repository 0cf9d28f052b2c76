// Sliding windows over a sequence, with gradients: the input of a convolution's matrix product.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/autograd/ops/mask.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

struct UnfoldOptions {
  Index size = 1;      // the number of positions in a window
  Index dilation = 1;  // the distance between them
  // The distance between the starts of consecutive windows.
  Index stride = 1;
  Index before = 0;  // the number of zeros before the start of a sequence
  Index after = 0;   // the number of zeros after its end

  // The number of positions from the first of a window to its last, inclusive.
  Index span() const { return dilation * (size - 1) + 1; }
};

// Throws, naming `what`, ValueError unless size, dilation and stride are ≥ 1 and the padding is ≥
// 0, and ShapeError for a span or padding larger than a shape can be.
WEFT_API void check_unfold(const char* what, const UnfoldOptions& options);

// The vectors of x [batch, time, channels] in each window, concatenated: row w of the result
// [batch, windows, size · channels] has those for j = 0 … size - 1 (torch's unfold),
//   y[w, j] = x[w · stride + j · dilation - before]
//   windows = ⌊(time + before + after - span) / stride⌋ + 1
// With
// `valid_lens` [batch], x past the end of a sequence (even NaN) counts as zeros and gets no
// gradient. Throws ShapeError unless x has three axes and a window fits, ValueError for lengths
// outside 0 … time, and what `check_unfold` throws.
//   Var y = unfold(x, {.size = 3, .before = 1, .after = 1});  // x [2, 5, 8], y [2, 5, 24]
template <class T>
WEFT_API Var<T> unfold(const Var<T>& x, const UnfoldOptions& options,
                       const ValidLens& valid_lens = {});

}  // namespace weft
