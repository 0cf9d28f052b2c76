// Sliding windows over a sequence, with gradients: the input of a convolution's matrix product.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/autograd/ops/mask.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

struct UnfoldOptions {
  // The number of positions in a window, and the distance between them.
  Index size = 1;
  Index dilation = 1;
  // The distance between the starts of consecutive windows.
  Index stride = 1;
  // The number of zeros to pad the sequence with before its start and after its end.
  Index before = 0;
  Index after = 0;

  // The number of positions from the first of a window to its last, inclusive.
  Index span() const { return dilation * (size - 1) + 1; }
};

// Throws, naming `what`, ValueError unless size, dilation and stride are ≥ 1 and the padding is ≥
// 0, and ShapeError for a span or padding larger than a shape can be.
WEFT_API void check_unfold(const char* what, const UnfoldOptions& options);

// The vectors of x [batch, time, channels] in each window, concatenated: row w of the result
// [batch, windows, size · channels] has those at w · stride + j · dilation - before
// for j = 0 … size - 1, where windows = ⌊(time + before + after - span) / stride⌋ + 1. With
// `valid_lens` [batch], x past the end of a sequence (even NaN) counts as zeros and gets no
// gradient. Throws ShapeError unless x has three axes and a window fits, ValueError for lengths
// outside 0 … time, and what `check_unfold` throws.
template <class T>
WEFT_API Var<T> unfold(const Var<T>& x, const UnfoldOptions& options,
                       const ValidLens& valid_lens = {});

}  // namespace weft
