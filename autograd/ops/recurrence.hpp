// Recurrences over time, with gradients.
//
// Each function is the sequential part of a recurrent layer. Its inputs are the projections
// x · W_ihᵀ + b_ih of the layer's inputs at all steps. Sequences are [batch, time, …];
// `valid_lens`, if set, is [batch]. Past the end of a sequence, inputs are not read (they may be
// NaN), states are zeros, and the gradients of these states are ignored.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/autograd/ops/mask.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

// Computes the recurrence of torch.nn.RNN (Elman, 1990),
//   h_t = tanh(inputs_t + h_{t-1} · weightᵀ + bias)
// for inputs [batch, time, size], weight [size, size], bias [size] and h_0 = initial [batch, size].
// Result [batch, time, size]. Throws ShapeError if the shapes do not match, and ValueError for
// lengths outside [0, time].
//   Var states = tanh_recurrence(linear(x, weight_ih, bias_ih), weight_hh, bias_hh, h0);
template <class T>
WEFT_API Var<T> tanh_recurrence(const Var<T>& inputs, const Var<T>& weight, const Var<T>& bias,
                                const Var<T>& initial, const ValidLens& valid_lens = {});

// Computes the gated recurrent unit (Cho et al., 2014) as in torch.nn.GRU. With x = inputs_t and
// u = h_{t-1} · weightᵀ + bias, each split into three parts:
//   r = σ(x_r + u_r),  z = σ(x_z + u_z),  n = tanh(x_n + r u_n),  h_t = (1 - z) n + z h_{t-1},
// for inputs [batch, time, 3 · size], weight [3 · size, size], bias [3 · size] and h_0 = initial
// [batch, size]. Result [batch, time, size]. Throws ShapeError if the shapes do not match, and
// ValueError for lengths outside [0, time].
//   Var states = gru_recurrence(linear(x, weight_ih, bias_ih), weight_hh, bias_hh, h0);
template <class T>
WEFT_API Var<T> gru_recurrence(const Var<T>& inputs, const Var<T>& weight, const Var<T>& bias,
                               const Var<T>& initial, const ValidLens& valid_lens = {});

// Computes long short-term memory (Hochreiter and Schmidhuber, 1997) as in torch.nn.LSTM. With
// x = inputs_t and u = h_{t-1} · weightᵀ + bias, each split into four parts:
//   i = σ(x_i + u_i),  f = σ(x_f + u_f),  g = tanh(x_g + u_g),  o = σ(x_o + u_o),
//   c_t = f c_{t-1} + i g,  h_t = o tanh(c_t),
// for inputs [batch, time, 4 · size], weight [4 · size, size] and bias [4 · size]. A state is h
// followed by c: `initial` is [batch, 2 · size] and the result [batch, time, 2 · size]. Throws
// ShapeError if the shapes do not match, and ValueError for lengths outside [0, time].
//   Var states = lstm_recurrence(linear(x, weight_ih, bias_ih), weight_hh, bias_hh, h0_c0);
template <class T>
WEFT_API Var<T> lstm_recurrence(const Var<T>& inputs, const Var<T>& weight, const Var<T>& bias,
                                const Var<T>& initial, const ValidLens& valid_lens = {});

// Reverses the steps of each sequence of x [batch, time, size], as in torch's bidirectional layers;
// result of the same shape,
//   y_t = x_{length - 1 - t}
// Past the end of a sequence, x is not read (it may be NaN) and the result is zeros. Throws
// ShapeError unless x has three axes, and ValueError for lengths outside [0, time].
//   Var y = reverse_sequences(x, ValidLens{3, 2});
template <class T>
WEFT_API Var<T> reverse_sequences(const Var<T>& x, const ValidLens& valid_lens = {});

// Returns the last state of each sequence, [batch, size] (torch's h_n): its last step in `states`
// [batch, time, size],
//   y = states_{length - 1}
// or its row of `initial` [batch, size] if the sequence is empty. Throws ShapeError if the shapes
// do not match, and ValueError for lengths outside [0, time].
//   Var y = last_states(states, h0, ValidLens{3, 2});
template <class T>
WEFT_API Var<T> last_states(const Var<T>& states, const Var<T>& initial,
                            const ValidLens& valid_lens = {});

}  // namespace weft
