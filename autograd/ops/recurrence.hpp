// Recurrences: states that follow one from another, step by step, with gradients.
//
// Each is what a recurrent layer does once the projections x · W_ihᵀ + b_ih of all its inputs are
// there, which need no steps. Sequences are [batch, time, …]; `valid_lens`, when given, is [batch].
// At the end of a sequence the recurrence stops: what inputs hold past it (NaN too) is not read,
// the states there are zeros, and gradients that come for these count for nothing.
#pragma once

#include "weft/autograd/ops/mask.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

// h_t = tanh(inputs_t + h_{t-1} · weightᵀ + bias) (Elman, 1990), for inputs [batch, time, size],
// weight [size, size], bias [size] and h_0 = initial [batch, size]. Result [batch, time, size].
// Throws ShapeError, and ValueError for lengths that are negative or more than the steps.
template <class T>
Var<T> tanh_recurrence(const Var<T>& inputs, const Var<T>& weight, const Var<T>& bias,
                       const Var<T>& initial, const ValidLens& valid_lens = {});

// The gated recurrent unit (Cho et al., 2014), in the form of torch.nn.GRU: with the three parts of
// x = inputs_t and of u = h_{t-1} · weightᵀ + bias,
//   r = σ(x_r + u_r),  z = σ(x_z + u_z),  n = tanh(x_n + r u_n),  h_t = (1 - z) n + z h_{t-1},
// for inputs [batch, time, 3 · size], weight [3 · size, size], bias [3 · size] and h_0 = initial
// [batch, size]. Result [batch, time, size]. Throws as tanh_recurrence does.
template <class T>
Var<T> gru_recurrence(const Var<T>& inputs, const Var<T>& weight, const Var<T>& bias,
                      const Var<T>& initial, const ValidLens& valid_lens = {});

// The state in which each sequence ends: of `states` [batch, time, size] the one at its last step,
// and for an empty sequence its row of `initial` [batch, size]. Result [batch, size]. Throws as
// tanh_recurrence does.
template <class T>
Var<T> last_states(const Var<T>& states, const Var<T>& initial, const ValidLens& valid_lens = {});

}  // namespace weft
