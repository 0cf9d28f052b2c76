#include "weft/autograd/ops/recurrence.hpp"

#include "autograd/kernels/arrays.hpp"
#include "autograd/kernels/column_sums.hpp"
#include "autograd/kernels/matrix_product.hpp"
#include "autograd/ops/internal/activation_functions.hpp"

namespace weft {
namespace {

// A cell is what happens in one step of one sequence. It has
//   gates      how many numbers of inputs and of the product h W the step reads for each unit;
//   kept       how many it writes for each unit into the place where the product came in;
//   for_later  whether backward reads these;
//   forward    the state after the step, from inputs x, bias b, the state before, and the product;
//   backward   from dy and `carry`, which together are the gradient of the state after the step:
//              the gradients dx of the inputs and du of the product, and in `carry` what reaches
//              the state before the step other than by the product.

// Forward:  h' = tanh(x + u + b).
// Backward: dx = du = dh' (1 - h'²).
template <class T>
struct TanhCell {
  static constexpr Index gates = 1, kept = 1;
  static constexpr bool for_later = false;

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
// Keeps r, z, v and n.
template <class T>
struct GruCell {
  static constexpr Index gates = 3, kept = 4;
  static constexpr bool for_later = true;

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

  static void backward(Index size, const T* kept_numbers, const T* before, const T*, const T* dy,
                       T* carry, T* dx, T* du) {
    const T *r = kept_numbers, *z = r + size, *v = z + size, *n = v + size;
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

// The states of all sequences and what is kept of each step, in the order of [batch, time, …].
template <class T, class Cell>
struct Steps {
  Tensor<T> initial;  // [B, size]
  Tensor<T> states;   // [B, T, size], after each step
  Tensor<T> kept;     // [B, kept_steps, kept · size]
  ValidLens valid_lens;
  Index batch, time, size;
  Index kept_steps;  // T, or 1 when what a step keeps is not read after it

  Index length(Index sequence) const { return valid_lens.length(sequence, 0, time); }
  Index longest(Index first, Index last) const {
    Index longest = 0;
    for (Index b = first; b < last; ++b) longest = std::max(longest, length(b));
    return longest;
  }
  // The state before a step, and how far from it that of the next sequence is.
  const T* before(Index sequence, Index step) const {
    return step == 0 ? initial.data() + sequence * size
                     : states.data() + (sequence * time + step - 1) * size;
  }
  Index before_stride(Index step) const { return step == 0 ? size : time * size; }
  Index after_offset(Index sequence, Index step) const { return (sequence * time + step) * size; }
  Index kept_stride() const { return kept_steps * Cell::kept * size; }
  Index kept_offset(Index sequence, Index step) const {
    return sequence * kept_stride() + step % kept_steps * Cell::kept * size;
  }
};

// Calls body(first, last) on ranges of sequences, in parallel: as these do not depend on each
// other, each thread takes its own through all steps. `cost` is that of one sequence.
template <class Body>
void for_ranges_of_sequences(Index batch, Index cost, const Body& body) {
  // Eight rows make a step's product worth reading the weight; fewer where a range would be alone.
  const Index together = std::min<Index>(8, (batch + 1) / 2);
  parallel_for(batch, std::max({together, (batch + 7) / 8, grain_of(cost / 8)}), body);
}

template <class T, class Cell>
void run_forward(const Pass<T>& pass, Steps<T, Cell>& steps, const Tensor<T>& inputs,
                 const Tensor<T>& weight, const Tensor<T>& bias) {
  const Index time = steps.time, size = steps.size, width = Cell::gates * size;
  // Turned round once, as every step reads all of it.
  Tensor<T> weight_transposed = pass.uninitialized({size, width});
  for (Index j = 0; j < width; ++j)
    for (Index i = 0; i < size; ++i)
      weight_transposed.data()[i * width + j] = weight.data()[j * size + i];

  for_ranges_of_sequences(steps.batch, time * width * size, [&](Index first, Index last) {
    // A sequence that has ended goes through the products of the others, with zeros.
    for (Index b = first; b < last; ++b)
      array(steps.states, steps.after_offset(b, steps.length(b)), steps.after_offset(b, time)) =
          T{0};
    const Index longest = steps.longest(first, last);
    for (Index t = 0; t < longest; ++t) {
      matrix_product(last - first, width, size, T{1},
                     {steps.before(first, t), steps.before_stride(t)},
                     {weight_transposed.data(), width}, T{0},
                     steps.kept.data() + steps.kept_offset(first, t), steps.kept_stride());
      for (Index b = first; b < last; ++b)
        if (t < steps.length(b))
          Cell::forward(size, inputs.data() + (b * time + t) * width, bias.data(),
                        steps.before(b, t), steps.kept.data() + steps.kept_offset(b, t),
                        steps.states.data() + steps.after_offset(b, t));
    }
  });
}

// Fills dx and du [B, T, gates · size], which may be one tensor, and `carry` [B, size] with the
// gradient of the initial states. The states before the steps go to `before` [B, T, size].
template <class T, class Cell>
void run_backward(const Steps<T, Cell>& steps, const Tensor<T>& weight, const Tensor<T>& dy,
                  Tensor<T>& dx, Tensor<T>& du, Tensor<T>& carry, Tensor<T>& before) {
  const Index time = steps.time, size = steps.size, width = Cell::gates * size;
  carry.fill(T{0});
  for_ranges_of_sequences(steps.batch, time * width * size, [&](Index first, Index last) {
    for (Index b = first; b < last; ++b) {
      const Index end = b * time + steps.length(b), next = (b + 1) * time;
      array(dx, end * width, next * width) = T{0};
      array(du, end * width, next * width) = T{0};
      array(before, end * size, next * size) = T{0};
    }
    for (Index t = steps.longest(first, last) - 1; t >= 0; --t) {
      for (Index b = first; b < last; ++b) {
        if (t >= steps.length(b)) continue;
        const Index after = steps.after_offset(b, t), at = (b * time + t) * width;
        array(before, after, after + size) = array(steps.before(b, t), 0, size);
        Cell::backward(size, steps.kept.data() + steps.kept_offset(b, t), before.data() + after,
                       steps.states.data() + after, dy.data() + after, carry.data() + b * size,
                       dx.data() + at, du.data() + at);
      }
      matrix_product(last - first, size, width, T{1},
                     {du.data() + (first * time + t) * width, time * width}, {weight.data(), size},
                     T{1}, carry.data() + first * size, size);
    }
  });
}

template <class T>
void check_state(const char* operation, const Var<T>& initial, Index batch, Index size) {
  if (initial.shape() != Shape{batch, size})
    fail<ShapeError>(concatenate_text(operation, ": initial"), Shape{batch, size}, initial.shape());
}

// Forward:  h_t = cell(x_t, h_{t-1} Wᵀ + b, h_{t-1}).
// Backward: from the last step to the first, dx_t and du_t by the cell, dh_{t-1} += du_t W. Then
//           dW = Σ du_tᵀ h_{t-1} and db = Σ du_t over all steps and sequences at once.
// Keeps the states and what the cell keeps.
template <class T, class Cell>
Var<T> recurrence(const char* operation, const Var<T>& inputs, const Var<T>& weight,
                  const Var<T>& bias, const Var<T>& initial, const ValidLens& valid_lens) {
  Pass<T>& pass = pass_of(operation, inputs, weight, bias, initial);
  const Index size = weight.shape().columns(), width = Cell::gates * size;
  if (weight.shape() != Shape{width, size})
    fail<ShapeError>(concatenate_text(operation, ": weight"),
                     Cell::gates == 1 ? "shape [size, size]"
                                      : concatenate_text("shape [", Cell::gates, " size, size]"),
                     weight.shape());
  if (inputs.rank() != 3 || inputs.shape()[2] != width)
    fail<ShapeError>(
        concatenate_text(operation, ": inputs"),
        concatenate_text("shape [batch, time, ", width, "] for a weight of shape ", weight.shape()),
        inputs.shape());
  if (bias.shape() != Shape{width})
    fail<ShapeError>(concatenate_text(operation, ": bias"), Shape{width}, bias.shape());
  const Index batch = inputs.shape()[0], time = inputs.shape()[1];
  check_state(operation, initial, batch, size);
  valid_lens.check(operation, batch, 1, time);

  const Index kept_steps = Cell::for_later && pass.recording() ? time : std::min<Index>(time, 1);
  Steps<T, Cell> steps{initial.value(),
                       pass.uninitialized({batch, time, size}),
                       pass.uninitialized({batch, kept_steps, Cell::kept * size}),
                       valid_lens,
                       batch,
                       time,
                       size,
                       kept_steps};
  run_forward(pass, steps, inputs.value(), weight.value(), bias.value());
  if (!Cell::for_later) steps.kept = Tensor<T>();

  return pass.record(
      operation, steps.states, {inputs.node(), weight.node(), bias.node(), initial.node()},
      [x = inputs.node(), w = weight.node(), b = bias.node(), first = initial.node(),
       w_value = weight.value(), steps](Pass<T>& backward, const Tensor<T>& dy) {
        const Index m = steps.batch * steps.time, k = steps.size, n = Cell::gates * steps.size;
        Tensor<T> dx = backward.uninitialized({steps.batch, steps.time, n});
        Tensor<T> du = Cell::gates == 1 ? dx : backward.uninitialized(dx.shape());
        Tensor<T> carry = backward.uninitialized({steps.batch, k});
        Tensor<T> before = backward.uninitialized(steps.states.shape());
        run_backward(steps, w_value, dy, dx, du, carry, before);
        backward.add_gradient(x, dx);
        backward.add_gradient(first, carry);
        if (const Gradient<T> dw = backward.gradient(w))
          parallel_matrix_product(n, k, m, T{1}, {du.data(), n, true}, {before.data(), k},
                                  dw.beta(), dw.data(), k);
        if (const Gradient<T> db = backward.gradient(b)) add_column_sums(backward, du, m, n, db);
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

// Forward:  y = the sequence's last state, or its initial one when it is empty.
// Backward: dy goes there.
template <class T>
Var<T> last_states(const Var<T>& states, const Var<T>& initial, const ValidLens& valid_lens) {
  Pass<T>& pass = pass_of("last_states", states, initial);
  if (states.rank() != 3)
    fail<ShapeError>("last_states", "shape [batch, time, size]", states.shape());
  const Index batch = states.shape()[0], time = states.shape()[1], size = states.shape()[2];
  check_state("last_states", initial, batch, size);
  valid_lens.check("last_states", batch, 1, time);
  Tensor<T> y = pass.uninitialized({batch, size});
  for (Index b = 0; b < batch; ++b) {
    const Index length = valid_lens.length(b, 0, time);
    const T* from = length == 0 ? initial.value().data() + b * size
                                : states.value().data() + (b * time + length - 1) * size;
    std::copy(from, from + size, y.data() + b * size);
  }
  return pass.record("last_states", y, {states.node(), initial.node()},
                     [states = states.node(), initial = initial.node(), valid_lens, batch, time,
                      size](Pass<T>& backward, const Tensor<T>& dy) {
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
template Var<float> last_states(const Var<float>&, const Var<float>&, const ValidLens&);
template Var<double> last_states(const Var<double>&, const Var<double>&, const ValidLens&);

}  // namespace weft
