#include "weft/autograd/ops/linear.hpp"

#include <algorithm>
#include <array>

#include "autograd/internal/bfloat16.hpp"
#include "autograd/kernels/arrays.hpp"
#include "autograd/kernels/column_sums.hpp"
#include "autograd/kernels/matrix_product.hpp"
#include "autograd/ops/internal/activation_functions.hpp"
#include "autograd/ops/internal/elements.hpp"

namespace weft {
namespace {

template <class T>
void check_linear(const Var<T>& x, const Var<T>& weight) {
  if (weight.rank() != 2) fail<ShapeError>("linear: weight", "shape [out, in]", weight.shape());
  if (x.rank() < 1 || x.shape()[-1] != weight.shape()[1])
    fail<ShapeError>(
        "linear: input",
        str_cat("shape [..., ", weight.shape()[1], "] for a weight of shape ", weight.shape()),
        x.shape());
}

// Returns a view of x as a matrix of rows. A product in bf16 rounds x only once.
template <class T>
MatrixView<T> matrix_of(const Tensor<T>& x) {
  const std::uint16_t* const bf16 = x.bf16();
  return {bf16 ? nullptr : x.data(), x.shape()[-1], false, bf16, &x};
}

// Returns dz = dy f'(z). `kept` is f'(z) for activations whose slope is computed from z, and y for
// other activations.
template <class T>
Tensor<T> gradient_of_z(const Tape<T>& tape, Activation activation, const Tensor<T>& kept,
                        const Tensor<T>& dy) {
  if (activation == Activation::none) return dy;
  Tensor<T> dz = tape.uninitialized(dy.shape());
  if (slope_reads_input(activation))
    parallel_for(dy.size(), grain_of(1), [&](Index begin, Index end) {
      const auto multiply = [&](Index at, Index size, const T* slope) {
        const T* const g = dy.data() + at;
        T* const to = dz.data() + at;
        for (Index i = 0; i < size; ++i) to[i] = g[i] * slope[i];
      };
      for_each_part(begin, end, multiply, kept);
    });
  else
    parallel_for(dy.size(), grain_of(8), [&](Index begin, Index end) {
      activation_gradient(activation, kept.data() + begin, kept.data() + begin, dy.data() + begin,
                          dz.data() + begin, end - begin);
    });
  return dz;
}

// Forward:  y = f(z), z = x Wᵀ + b.
// Backward: dz = dy f'(z), dx = dz W, dW = dzᵀ x, db = the sum of dz over rows. Keeps x unless W is
// frozen, and f'(z) or y for an activation.
template <class T>
Var<T> fused_linear(const Var<T>& x, const Var<T>& weight, const Var<T>* bias,
                    Activation activation) {
  check_linear(x, weight);
  Tape<T>& tape = tape_of("linear", x, weight);
  const Index rows = x.shape().rows(), in = weight.shape()[1], out = weight.shape()[0];
  if (bias) {
    tape_of("linear", x, *bias);
    if (bias->shape() != Shape{out}) fail<ShapeError>("linear: bias", Shape{out}, bias->shape());
  }
  Tensor<T> y = tape.uninitialized(x.shape().with(-1, out));
  const bool keep_slope = slope_reads_input(activation) && tape.recording();
  Tensor<T> kept;  // f'(z), as floats or as bf16 numbers
  T* slopes = nullptr;
  std::uint16_t* bf16_slopes = nullptr;
  if (keep_slope && tape.saves_bf16(y.shape())) {
    kept = tape.of_bf16(y.shape(), [&](auto numbers) { bf16_slopes = numbers.data(); });
  } else if (keep_slope) {
    kept = tape.uninitialized(y.shape());
    slopes = kept.data();
  }
  T* y_data = y.data();
  const T* b = bias ? bias->value().data() : nullptr;
  const auto add_bias_and_activate = [&](Index i0, Index i1, Index j0, Index j1) {
    constexpr Index part = 512;
    std::array<T, part> memory;
    for (Index i = i0; i < i1; ++i) {
      T* row = y_data + i * out;
      if (b) array(row, j0, j1) += array(b, j0, j1);
      if (!keep_slope) {
        if (activation != Activation::none)
          apply_activation(activation, row + j0, row + j0, j1 - j0);
        continue;
      }
      for (Index j = j0; j < j1; j += part) {
        const Index size = std::min(part, j1 - j), at = i * out + j;
        T* const slope = slopes ? slopes + at : memory.data();
        apply_activation(activation, row + j, row + j, slope, size);
        if (bf16_slopes) round_to_bfloat16(size, slope, bf16_slopes + at);
      }
    }
  };
  const MatrixView<T> x_matrix{x.value().data(), in, false, nullptr, &x.value()},
      w_matrix = matrix_of(weight.value());
  parallel_matrix_product(tape.precision(), rows, out, in, T{1}, x_matrix, w_matrix.transpose(),
                          T{0}, y_data, out, add_bias_and_activate);

  if (!keep_slope && activation != Activation::none) kept = y;
  const NodeId bias_node = bias ? bias->node() : no_node;
  tape.count_products(rows, out, in);
  return tape.record(
      "linear", y, {x.node(), weight.node(), bias_node},
      [x = x.node(), w = weight.node(), bias_node,
       x_value = weight.node() == no_node ? Tensor<T>() : tape.saved(x.value()),
       w_value = weight.value(), kept, activation](Tape<T>& backward, const Tensor<T>& dy) {
        const Index m = dy.shape().rows(), k = w_value.shape()[1], n = w_value.shape()[0];
        const Tensor<T> dz = gradient_of_z(backward, activation, kept, dy);
        if (const Gradient<T> dx = backward.gradient(x))
          parallel_matrix_product(backward.precision(), m, k, n, T{1}, matrix_of(dz),
                                  matrix_of(w_value), dx.beta(), dx.data(), k);
        if (const Gradient<T> dw = backward.gradient(w))
          parallel_matrix_product(backward.precision(), n, k, m, T{1}, matrix_of(dz).transpose(),
                                  matrix_of(x_value), dw.beta(), dw.data(), k);
        if (const Gradient<T> db = backward.gradient(bias_node))
          add_column_sums(backward, dz, m, n, db);
      });
}

}  // namespace

template <class T>
Var<T> linear(const Var<T>& x, const Var<T>& weight, const Var<T>& bias, Activation activation) {
  return fused_linear(x, weight, &bias, activation);
}

template <class T>
Var<T> linear(const Var<T>& x, const Var<T>& weight, Activation activation) {
  return fused_linear<T>(x, weight, nullptr, activation);
}

template Var<float> linear(const Var<float>&, const Var<float>&, const Var<float>&, Activation);
template Var<double> linear(const Var<double>&, const Var<double>&, const Var<double>&, Activation);
template Var<float> linear(const Var<float>&, const Var<float>&, Activation);
template Var<double> linear(const Var<double>&, const Var<double>&, Activation);

}  // namespace weft
