// Recurrences over time, with gradients.
//
// Each is the sequential part of a recurrent layer; its inputs are the projections x · W_ihᵀ + b_ih
// of the layer's inputs at all steps. Sequences are [batch, time, …]; `valid_lens`, when given, is
// [batch]. Past the end of a sequence, inputs (even NaN) are not read, states are zeros, and the
// gradients of these states are ignored.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/autograd/ops/mask.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

// h_t = tanh(inputs_t + h_{t-1} · weightᵀ + bias) (Elman, 1990), for inputs [batch, time, size],
// weight [size, size], bias [size] and h_0 = initial [batch, size]. Result [batch, time, size].
// Throws ShapeError, and ValueError for lengths outside 0 … time.
template <class T>
WEFT_API Var<T> tanh_recurrence(const Var<T>& inputs, const Var<T>& weight, const Var<T>& bias,
                                const Var<T>& initial, const ValidLens& valid_lens = {});

// The gated recurrent unit (Cho et al., 2014), in the form of torch.nn.GRU: with x = inputs_t and
// u = h_{t-1} · weightᵀ + bias, each split into three parts,
//   r = σ(x_r + u_r),  z = σ(x_z + u_z),  n = tanh(x_n + r u_n),  h_t = (1 - z) n + z h_{t-1},
// for inputs [batch, time, 3 · size], weight [3 · size, size], bias [3 · size] and h_0 = initial
// [batch, size]. Result [batch, time, size]. Throws as tanh_recurrence does.
template <class T>
WEFT_API Var<T> gru_recurrence(const Var<T>& inputs, const Var<T>& weight, const Var<T>& bias,
                               const Var<T>& initial, const ValidLens& valid_lens = {});

// The last state of each sequence: the one at its last step in `states` [batch, time, size], or,
// for an empty sequence, its row of `initial` [batch, size]. Result [batch, size]. Throws as
// tanh_recurrence does.
template <class T>
WEFT_API Var<T> last_states(const Var<T>& states, const Var<T>& initial,
                            const ValidLens& valid_lens = {});

}  // namespace weft
