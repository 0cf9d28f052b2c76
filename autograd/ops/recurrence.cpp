#include "weft/autograd/ops/recurrence.hpp"

#include "autograd/internal/saturating_product.hpp"
#include "autograd/kernels/arrays.hpp"
#include "autograd/kernels/column_sums.hpp"
#include "autograd/kernels/matrix_product.hpp"
#include "autograd/kernels/transposed_copy.hpp"
#include "autograd/ops/internal/activation_functions.hpp"

namespace weft {
namespace {

// A cell computes one step of one sequence. Its members are
//   gates          the number of inputs, and of elements of the product h W, per unit;
//   parts          the number of vectors in a state; the first one is h;
//   saved          the number of values per unit that forward writes over the product;
//   save_all_steps whether backward reads these values;
//   equal_slopes   whether the gradients dx of the inputs and du of the product are the same array;
//   forward        computes the state after the step from the inputs x, the bias b, the state
//                  before the step and the product;
//   backward       computes dx and du from dy + `carry`, the gradient of the state after the step,
//                  and sets `carry` to the gradient of the state before the step, except the part
//                  that flows through the product.

// Forward:  h' = tanh(x + u + b).
// Backward: dx = du = dh' (1 - h'²).
template <class T>
struct TanhCell {
  static constexpr Index gates = 1, parts = 1, saved = 1;
  static constexpr bool save_all_steps = false, equal_slopes = true;

  static void forward(Index size, const T* x, const T* b, const T*, T* u, T* after) {
#pragma omp simd
    for (Index i = 0; i < size; ++i) after[i] = Tanh<T>::value(x[i] + u[i] + b[i]);
  }

  static void backward(Index size, const T*, const T*, const T* after, const T* dy, T* carry, T* dx,
                       T* du) {
#pragma omp simd
    for (Index i = 0; i < size; ++i) {
      dx[i] = du[i] = (dy[i] + carry[i]) * Tanh<T>::slope(T{}, after[i]);
      carry[i] = T{0};
    }
  }
};

// Forward:  r = σ(x_r + u_r + b_r), z = σ(x_z + u_z + b_z), v = u_n + b_n, n = tanh(x_n + r v),
//           h' = n + z (h - n).
// Backward: dn = dh' (1 - z) (1 - n²), dz = dh' (h - n) z (1 - z), dr = dn v r (1 - r),
//           dx = (dr, dz, dn), du = (dr, dz, dn r), and dh' z reaches h directly.
// Saves r, z, v and n.
template <class T>
struct GruCell {
  static constexpr Index gates = 3, parts = 1, saved = 4;
  static constexpr bool save_all_steps = true, equal_slopes = false;

  static void forward(Index size, const T* x, const T* b, const T* before, T* u, T* after) {
    T *r = u, *z = u + size, *v = u + 2 * size, *n = u + 3 * size;
#pragma omp simd
    for (Index i = 0; i < 2 * size; ++i) u[i] = Sigmoid<T>::value(x[i] + u[i] + b[i]);
#pragma omp simd
    for (Index i = 0; i < size; ++i) {
      v[i] += b[2 * size + i];
      n[i] = Tanh<T>::value(x[2 * size + i] + r[i] * v[i]);
      after[i] = n[i] + z[i] * (before[i] - n[i]);
    }
  }

  static void backward(Index size, const T* saved_values, const T* before, const T*, const T* dy,
                       T* carry, T* dx, T* du) {
    const T *r = saved_values, *z = r + size, *v = z + size, *n = v + size;
    T *dr = dx, *dz = dx + size, *dn = dx + 2 * size, *dv = du + 2 * size;
#pragma omp simd
    for (Index i = 0; i < size; ++i) {
      const T dh = dy[i] + carry[i];
      dn[i] = dh * (T{1} - z[i]) * Tanh<T>::slope(T{}, n[i]);
      dz[i] = dh * (before[i] - n[i]) * Sigmoid<T>::slope(T{}, z[i]);
      dr[i] = dn[i] * v[i] * Sigmoid<T>::slope(T{}, r[i]);
      du[i] = dr[i];
      du[size + i] = dz[i];
      dv[i] = dn[i] * r[i];
      carry[i] = dh * z[i];
    }
  }
};

// Forward:  i = σ(x_i + u_i + b_i), f = σ(x_f + u_f + b_f), g = tanh(x_g + u_g + b_g),
//           o = σ(x_o + u_o + b_o), c' = f c + i g, h' = o tanh(c').
// Backward: do = dh' tanh(c') o (1 - o), dc' += dh' o (1 - tanh²(c')), di = dc' g i (1 - i),
//           df = dc' c f (1 - f), dg = dc' i (1 - g²), dx = du = (di, df, dg, do), and dc' f
//           reaches c directly.
// A state is h followed by c. Saves i, f, g and o.
template <class T>
struct LstmCell {
  static constexpr Index gates = 4, parts = 2, saved = 4;
  static constexpr bool save_all_steps = true, equal_slopes = true;

  static void forward(Index size, const T* x, const T* b, const T* before, T* u, T* after) {
    const T *i = u, *f = u + size, *o = u + 3 * size, *c = before + size;
    T *g = u + 2 * size, *h_after = after, *c_after = after + size;
#pragma omp simd
    for (Index k = 0; k < 2 * size; ++k) u[k] = Sigmoid<T>::value(x[k] + u[k] + b[k]);
#pragma omp simd
    for (Index k = 3 * size; k < 4 * size; ++k) u[k] = Sigmoid<T>::value(x[k] + u[k] + b[k]);
#pragma omp simd
    for (Index k = 0; k < size; ++k) {
      g[k] = Tanh<T>::value(x[2 * size + k] + g[k] + b[2 * size + k]);
      c_after[k] = f[k] * c[k] + i[k] * g[k];
      h_after[k] = o[k] * Tanh<T>::value(c_after[k]);
    }
  }

  static void backward(Index size, const T* saved_values, const T* before, const T* after,
                       const T* dy, T* carry, T*, T* du) {
    const T *i = saved_values, *f = i + size, *g = f + size, *o = g + size;
    const T *c = before + size, *c_after = after + size;
    T *di = du, *df = du + size, *dg = du + 2 * size, *d_o = du + 3 * size;
#pragma omp simd
    for (Index k = 0; k < size; ++k) {
      const T squashed = Tanh<T>::value(c_after[k]);
      const T dh = dy[k] + carry[k];
      const T dc = dy[size + k] + carry[size + k] + dh * o[k] * Tanh<T>::slope(T{}, squashed);
      di[k] = dc * g[k] * Sigmoid<T>::slope(T{}, i[k]);
      df[k] = dc * c[k] * Sigmoid<T>::slope(T{}, f[k]);
      dg[k] = dc * i[k] * Tanh<T>::slope(T{}, g[k]);
      d_o[k] = dh * squashed * Sigmoid<T>::slope(T{}, o[k]);
      carry[k] = T{0};
      carry[size + k] = dc * f[k];
    }
  }
};

// The states and the saved values of all sequences, [batch, time, …].
template <class T, class Cell>
struct Sequences {
  Tensor<T> initial;  // [B, parts · size]
  Tensor<T> states;   // [B, T, parts · size], after each step
  Tensor<T> saved;    // [B, saved_steps, saved · size]
  ValidLens valid_lens;
  Index batch, time, size;
  Index saved_steps;  // T, or 1 if backward does not read the saved values
  Precision precision;

  Index length(Index sequence) const { return valid_lens.length(sequence, 0, time); }
  Index longest(Index first, Index last) const {
    Index longest = 0;
    for (Index b = first; b < last; ++b) longest = std::max(longest, length(b));
    return longest;
  }
  // Null if backward does not read the saved values.
  const T* saved_for_backward(Index sequence, Index step) const {
    return Cell::save_all_steps ? saved.data() + saved_offset(sequence, step) : nullptr;
  }
  // The number of elements of a state.
  Index state_size() const { return Cell::parts * size; }
  // The cost of all steps of one sequence.
  Index cost() const { return saturating_product({time, Cell::gates * size, size}); }
  // The state before a step, and its stride from sequence to sequence.
  const T* before(Index sequence, Index step) const {
    return step == 0 ? initial.data() + sequence * state_size()
                     : states.data() + after_offset(sequence, step - 1);
  }
  Index before_stride(Index step) const { return step == 0 ? state_size() : time * state_size(); }
  Index after_offset(Index sequence, Index step) const {
    return (sequence * time + step) * state_size();
  }
  Index saved_stride() const { return saved_steps * Cell::saved * size; }
  Index saved_offset(Index sequence, Index step) const {
    return sequence * saved_stride() + step % saved_steps * Cell::saved * size;
  }
};

// Calls body(first, last) on ranges of sequences, in parallel: sequences are independent, so each
// thread runs all steps of its ranges. `cost` is the cost of one sequence.
template <class Body>
void for_ranges_of_sequences(Index batch, Index cost, const Body& body) {
  // At least eight rows per product amortize reading the weight. Fewer are used if there would be
  // only one range.
  const Index min_rows = std::min<Index>(8, (batch + 1) / 2);
  parallel_for(batch, std::max<Index>({min_rows, (batch + 7) / 8, grain_of(cost / 8)}), body);
}

template <class T, class Cell>
void run_forward(const Tape<T>& tape, Sequences<T, Cell>& sequences, const Tensor<T>& inputs,
                 const Tensor<T>& weight, const Tensor<T>& bias) {
  const Index time = sequences.time, size = sequences.size, width = Cell::gates * size;
  // Transposed once, as every step reads all of it.
  const Index stride = (width + 3) / 4 * 4;
  Tensor<T> weight_transposed = tape.uninitialized({size, stride});
  copy_transposed(size, width, T{1}, weight.data(), size, weight_transposed.data(), stride);

  for_ranges_of_sequences(sequences.batch, sequences.cost(), [&](Index first, Index last) {
    // A sequence that has ended still takes part in the products, with zeros.
    for (Index b = first; b < last; ++b)
      array(sequences.states, sequences.after_offset(b, sequences.length(b)),
            sequences.after_offset(b, time)) = T{0};
    const Index longest = sequences.longest(first, last);
    for (Index t = 0; t < longest; ++t) {
      matrix_product(sequences.precision, last - first, width, size, T{1},
                     {sequences.before(first, t), sequences.before_stride(t)},
                     {weight_transposed.data(), stride}, T{0},
                     sequences.saved.data() + sequences.saved_offset(first, t),
                     sequences.saved_stride());
      for (Index b = first; b < last; ++b)
        if (t < sequences.length(b))
          Cell::forward(size, inputs.data() + (b * time + t) * width, bias.data(),
                        sequences.before(b, t),
                        sequences.saved.data() + sequences.saved_offset(b, t),
                        sequences.states.data() + sequences.after_offset(b, t));
    }
  });
}

// Fills dx and du [B, T, gates · size], which may be the same array, and fills `carry`
// [B, parts · size] with the gradient of the initial states. Writes the states before the steps to
// `before` [B, T, parts · size].
template <class T, class Cell>
void run_backward(const Sequences<T, Cell>& sequences, const Tensor<T>& weight, const Tensor<T>& dy,
                  T* dx, T* du, Tensor<T>& carry, Tensor<T>& before) {
  const Index time = sequences.time, size = sequences.size, width = Cell::gates * size;
  const Index state_size = sequences.state_size();
  carry.fill(T{0});
  for_ranges_of_sequences(sequences.batch, sequences.cost(), [&](Index first, Index last) {
    for (Index b = first; b < last; ++b) {
      const Index end = b * time + sequences.length(b), next = (b + 1) * time;
      array(dx, end * width, next * width) = T{0};
      array(du, end * width, next * width) = T{0};
      array(before, end * state_size, next * state_size) = T{0};
    }
    for (Index t = sequences.longest(first, last) - 1; t >= 0; --t) {
      for (Index b = first; b < last; ++b) {
        if (t >= sequences.length(b)) continue;
        const Index after = sequences.after_offset(b, t), at = (b * time + t) * width;
        array(before, after, after + state_size) = array(sequences.before(b, t), 0, state_size);
        Cell::backward(size, sequences.saved_for_backward(b, t), before.data() + after,
                       sequences.states.data() + after, dy.data() + after,
                       carry.data() + b * state_size, dx + at, du + at);
      }
      matrix_product(sequences.precision, last - first, size, width, T{1},
                     {du + (first * time + t) * width, time * width}, {weight.data(), size}, T{1},
                     carry.data() + first * state_size, state_size);
    }
  });
}

template <class T>
void check_state(const char* operation, const Var<T>& initial, Index batch, Index size) {
  if (initial.shape() != Shape{batch, size})
    fail<ShapeError>(str_cat(operation, ": initial"), Shape{batch, size}, initial.shape());
}

// Forward:  h_t = cell(x_t, h_{t-1} Wᵀ + b, h_{t-1}).
// Backward: from the last step to the first, dx_t and du_t by the cell, dh_{t-1} += du_t W. Then
//           dW = Σ du_tᵀ h_{t-1} and db = Σ du_t over all steps and sequences at once.
// Keeps the states and the values that the cell saves.
template <class T, class Cell>
Var<T> recurrence(const char* operation, const Var<T>& inputs, const Var<T>& weight,
                  const Var<T>& bias, const Var<T>& initial, const ValidLens& valid_lens) {
  Tape<T>& tape = tape_of(operation, inputs, weight, bias, initial);
  const Index size = weight.shape().columns(), width = Cell::gates * size;
  if (weight.shape() != Shape{width, size})
    fail<ShapeError>(
        str_cat(operation, ": weight"),
        Cell::gates == 1 ? "shape [size, size]" : str_cat("shape [", Cell::gates, " size, size]"),
        weight.shape());
  if (inputs.rank() != 3 || inputs.shape()[2] != width)
    fail<ShapeError>(
        str_cat(operation, ": inputs"),
        str_cat("shape [batch, time, ", width, "] for a weight of shape ", weight.shape()),
        inputs.shape());
  if (bias.shape() != Shape{width})
    fail<ShapeError>(str_cat(operation, ": bias"), Shape{width}, bias.shape());
  const Index batch = inputs.shape()[0], time = inputs.shape()[1];
  const Index state_size = Cell::parts * size;
  check_state(operation, initial, batch, state_size);
  valid_lens.check(operation, batch, 1, time);

  const Index saved_steps =
      Cell::save_all_steps && tape.recording() ? time : std::min<Index>(time, 1);
  Sequences<T, Cell> sequences{initial.value(),
                               tape.uninitialized({batch, time, state_size}),
                               tape.uninitialized({batch, saved_steps, Cell::saved * size}),
                               valid_lens,
                               batch,
                               time,
                               size,
                               saved_steps,
                               tape.precision()};
  run_forward(tape, sequences, inputs.value(), weight.value(), bias.value());
  if (!Cell::save_all_steps) sequences.saved = Tensor<T>();

  tape.count_products(batch * time, width, size);
  return tape.record(
      operation, sequences.states, {inputs.node(), weight.node(), bias.node(), initial.node()},
      [x = inputs.node(), w = weight.node(), b = bias.node(), first = initial.node(),
       w_value = weight.value(), sequences](Tape<T>& backward, const Tensor<T>& dy) {
        const Index m = sequences.batch * sequences.time, k = sequences.size,
                    n = Cell::gates * sequences.size;
        Tensor<T> dx = backward.uninitialized({sequences.batch, sequences.time, n});
        Tensor<T> own_du;
        if (!Cell::equal_slopes) own_du = backward.uninitialized(dx.shape());
        Tensor<T> carry = backward.uninitialized(sequences.initial.shape());
        Tensor<T> before = backward.uninitialized(sequences.states.shape());
        run_backward(sequences, w_value, dy, dx.data(),
                     Cell::equal_slopes ? dx.data() : own_du.data(), carry, before);
        const Tensor<T>& du = Cell::equal_slopes ? dx : own_du;
        backward.add_gradient(x, dx);
        backward.add_gradient(first, carry);
        if (const Gradient<T> dw = backward.gradient(w))
          parallel_matrix_product(backward.precision(), n, k, m, T{1}, {du.data(), n, true},
                                  {before.data(), sequences.state_size()}, dw.beta(), dw.data(), k);
        if (const Gradient<T> db = backward.gradient(b)) add_column_sums(backward, du, m, n, db);
      });
}

// Copies the steps of each sequence in reverse order, and zeros past its end.
template <class T>
void copy_reversed(const Tensor<T>& from, const ValidLens& valid_lens, Tensor<T>& to) {
  const Index time = from.shape()[1], size = from.shape()[2];
  parallel_for(from.shape()[0], grain_of(saturating_product({time, size})),
               [&](Index first, Index last) {
                 for (Index b = first; b < last; ++b) {
                   const Index length = valid_lens.length(b, 0, time);
                   const T* source = from.data() + b * time * size;
                   T* target = to.data() + b * time * size;
                   for (Index t = 0; t < length; ++t)
                     std::copy_n(source + (length - 1 - t) * size, size, target + t * size);
                   std::fill(target + length * size, target + time * size, T{0});
                 }
               });
}

}  // namespace

template <class T>
Var<T> tanh_recurrence(const Var<T>& inputs, const Var<T>& weight, const Var<T>& bias,
                       const Var<T>& initial, const ValidLens& valid_lens) {
  return recurrence<T, TanhCell<T>>("tanh_recurrence", inputs, weight, bias, initial, valid_lens);
}

template <class T>
Var<T> gru_recurrence(const Var<T>& inputs, const Var<T>& weight, const Var<T>& bias,
                      const Var<T>& initial, const ValidLens& valid_lens) {
  return recurrence<T, GruCell<T>>("gru_recurrence", inputs, weight, bias, initial, valid_lens);
}

template <class T>
Var<T> lstm_recurrence(const Var<T>& inputs, const Var<T>& weight, const Var<T>& bias,
                       const Var<T>& initial, const ValidLens& valid_lens) {
  return recurrence<T, LstmCell<T>>("lstm_recurrence", inputs, weight, bias, initial, valid_lens);
}

// Forward:  y_t = x_{length - 1 - t} for t < length, else 0.
// Backward: dx from dy in the same way.
template <class T>
Var<T> reverse_sequences(const Var<T>& x, const ValidLens& valid_lens) {
  if (x.rank() != 3) fail<ShapeError>("reverse_sequences", "shape [batch, time, size]", x.shape());
  valid_lens.check("reverse_sequences", x.shape()[0], 1, x.shape()[1]);
  Tensor<T> y = x.tape().uninitialized(x.shape());
  copy_reversed(x.value(), valid_lens, y);
  return x.tape().record("reverse_sequences", y, {x.node()},
                         [x = x.node(), valid_lens](Tape<T>& backward, const Tensor<T>& dy) {
                           Tensor<T> dx = backward.uninitialized(dy.shape());
                           copy_reversed(dy, valid_lens, dx);
                           backward.add_gradient(x, dx);
                         });
}

// Forward:  y = the sequence's last state, or its initial state if it is empty.
// Backward: adds dy to the gradient of that state.
template <class T>
Var<T> last_states(const Var<T>& states, const Var<T>& initial, const ValidLens& valid_lens) {
  Tape<T>& tape = tape_of("last_states", states, initial);
  if (states.rank() != 3)
    fail<ShapeError>("last_states", "shape [batch, time, size]", states.shape());
  const Index batch = states.shape()[0], time = states.shape()[1], size = states.shape()[2];
  check_state("last_states", initial, batch, size);
  valid_lens.check("last_states", batch, 1, time);
  Tensor<T> y = tape.uninitialized({batch, size});
  for (Index b = 0; b < batch; ++b) {
    const Index length = valid_lens.length(b, 0, time);
    const T* from = length == 0 ? initial.value().data() + b * size
                                : states.value().data() + (b * time + length - 1) * size;
    std::copy(from, from + size, y.data() + b * size);
  }
  return tape.record("last_states", y, {states.node(), initial.node()},
                     [states = states.node(), initial = initial.node(), valid_lens, batch, time,
                      size](Tape<T>& backward, const Tensor<T>& dy) {
                       const Gradient<T> d_states = backward.gradient(states).zero_if_fresh();
                       const Gradient<T> d_initial = backward.gradient(initial).zero_if_fresh();
                       for (Index b = 0; b < batch; ++b) {
                         const Index length = valid_lens.length(b, 0, time);
                         const Gradient<T>& to = length == 0 ? d_initial : d_states;
                         const Index row = length == 0 ? b : b * time + length - 1;
                         if (to)
                           array(to.data(), row * size, (row + 1) * size) +=
                               array(dy, b * size, (b + 1) * size);
                       }
                     });
}

template Var<float> tanh_recurrence(const Var<float>&, const Var<float>&, const Var<float>&,
                                    const Var<float>&, const ValidLens&);
template Var<double> tanh_recurrence(const Var<double>&, const Var<double>&, const Var<double>&,
                                     const Var<double>&, const ValidLens&);
template Var<float> gru_recurrence(const Var<float>&, const Var<float>&, const Var<float>&,
                                   const Var<float>&, const ValidLens&);
template Var<double> gru_recurrence(const Var<double>&, const Var<double>&, const Var<double>&,
                                    const Var<double>&, const ValidLens&);
template Var<float> lstm_recurrence(const Var<float>&, const Var<float>&, const Var<float>&,
                                    const Var<float>&, const ValidLens&);
template Var<double> lstm_recurrence(const Var<double>&, const Var<double>&, const Var<double>&,
                                     const Var<double>&, const ValidLens&);
template Var<float> reverse_sequences(const Var<float>&, const ValidLens&);
template Var<double> reverse_sequences(const Var<double>&, const ValidLens&);
template Var<float> last_states(const Var<float>&, const Var<float>&, const ValidLens&);
template Var<double> last_states(const Var<double>&, const Var<double>&, const ValidLens&);

}  // namespace weft
