// Sequences with masked steps, for recurrences: a recurrence runs over the selected steps, which
// are packed together, and its states are distributed over all steps.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/autograd/ops/mask.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

// Counts the steps that a mask [batch, time] selects in each sequence (torch's mask.sum(1)).
// Returns the lengths [batch] of the result of `pack_steps`, `length = Σ_t mask_t`. Throws
// ShapeError unless the mask has two axes and fewer than 2^31 steps.
//   ValidLens lengths = count_steps(mask);
WEFT_API ValidLens count_steps(const Tensor<bool>& mask);

// Moves the steps of x [batch, time, size] that a mask [batch, time] selects to the start of their
// sequences (torch's x[b, mask[b]] for each sequence b), in the same order and followed by zeros:
//   y[i] = x[t_i],  where t_0 < t_1 < … are the selected steps
// Result [batch, steps, size], where `steps` is the largest number of selected steps in a sequence.
// Steps that are not selected may be NaN and get no gradient. Throws ShapeError if the shapes do
// not match.
//   Var states = tanh_recurrence(pack_steps(x, mask), weight, bias, h0, count_steps(mask));
template <class T>
WEFT_API Var<T> pack_steps(const Var<T>& x, const Tensor<bool>& mask);

// Distributes states [batch, steps, size] after packed steps over all steps of a mask [batch,
// time]. Result [batch, time, size],
//   y[t] = states[i],  where i + 1 is the number of selected steps up to t
// or zeros before the first selected step. Thus, a masked step repeats the previous output, as in
// Keras (torch has no counterpart). Throws ShapeError if the shapes do not match, or if the mask
// selects more than `steps` steps of a sequence.
//   Var y = unpack_steps(states, mask);  // states [2, 3, 8], mask [2, 5], y [2, 5, 8]
template <class T>
WEFT_API Var<T> unpack_steps(const Var<T>& states, const Tensor<bool>& mask);

}  // namespace weft
