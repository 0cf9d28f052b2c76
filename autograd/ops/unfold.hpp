// Windows on a sequence, with gradients: what a convolution multiplies its weight with.
#pragma once

#include "weft/autograd/ops/mask.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

struct UnfoldOptions {
  // Positions in a window, and how far apart they are.
  Index size = 1;
  Index dilation = 1;
  // How far each window begins after the one before it.
  Index stride = 1;
  // Zeros that stand in front of and after the sequence.
  Index before = 0;
  Index after = 0;

  // From the first position of a window to the one after its last.
  Index span() const { return dilation * (size - 1) + 1; }
};

// The vectors of x [batch, time, channels] that lie in each window, one after the other: row w of
// the result [batch, windows, size · channels] holds those at w · stride + j · dilation - before
// for j = 0 … size - 1, where windows = ⌊(time + before + after - span) / stride⌋ + 1. With
// `valid_lens` [batch], what x holds past the end of a sequence (NaN too) counts as zeros and gets
// no gradient. Throws ShapeError unless x has three axes and a window fits; ValueError unless size,
// dilation and stride are ≥ 1 and the numbers of zeros ≥ 0, and for lengths that are negative or
// more than the time.
template <class T>
Var<T> unfold(const Var<T>& x, const UnfoldOptions& options, const ValidLens& valid_lens = {});

}  // namespace weft
