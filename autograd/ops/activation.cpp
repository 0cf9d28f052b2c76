#include "weft/autograd/ops/activation.hpp"

#include "weft/autograd/operation.hpp"
#include "weft/autograd/ops/arithmetic.hpp"
#include "autograd/kernels/arrays.hpp"
#include "autograd/ops/internal/activation_functions.hpp"
#include "autograd/ops/internal/elements.hpp"

namespace weft {

// Forward:  y = f(x).
// Backward: dx = dy f'(x), computed from x or y, whichever the activation needs.
template <class T>
Var<T> activate(const Var<T>& x, Activation activation) {
  if (activation == Activation::none) return x;
  constexpr Index cost = 12;  // per element, in multiply-adds
  Tensor<T> y = x.tape().uninitialized(x.shape());
  parallel_for(x.size(), grain_of(cost), [&](Index begin, Index end) {
    apply_activation(activation, x.value().data() + begin, y.data() + begin, end - begin);
  });
  const Tensor<T> kept = slope_reads_input(activation) ? x.value() : y;
  return x.tape().record(name_of("activation", activation, activation_names), y, {x.node()},
                         [x = x.node(), kept, activation](Tape<T>& backward, const Tensor<T>& dy) {
                           Tensor<T> dx = backward.uninitialized(dy.shape());
                           parallel_for(dy.size(), grain_of(cost), [&](Index begin, Index end) {
                             activation_gradient(activation, kept.data() + begin,
                                                 kept.data() + begin, dy.data() + begin,
                                                 dx.data() + begin, end - begin);
                           });
                           backward.add_gradient(x, dx);
                         });
}

// Forward:  y = f(g) x.
// Backward: dg = dy x f'(g), dx = dy f(g), where f(g) is computed again.
template <class T>
Var<T> gated(const Var<T>& gate, const Var<T>& x, Activation activation) {
  Tape<T>& tape = tape_of("gated", gate, x);
  if (gate.shape() != x.shape()) fail<ShapeError>("gated", gate.shape(), x.shape());
  if (activation == Activation::none) return gate * x;
  constexpr Index cost = 16;  // per element, in multiply-adds
  Tensor<T> y = tape.uninitialized(x.shape());
  parallel_for(x.size(), grain_of(cost), [&](Index begin, Index end) {
    const T *g = gate.value().data(), *values = x.value().data();
    T* const to = y.data();
    with_activation<T>(activation, [&](auto f) {
#pragma omp simd
      for (Index i = begin; i < end; ++i) to[i] = f.value(g[i]) * values[i];
    });
  });
  return tape.record(
      "gated", y, {gate.node(), x.node()},
      [gate = gate.node(), x = x.node(), g_value = tape.saved(gate.value()),
       x_value = tape.saved(x.value()), activation](Tape<T>& backward, const Tensor<T>& dy) {
        Tensor<T> dg = backward.uninitialized(dy.shape()), dx = backward.uninitialized(dy.shape());
        parallel_for(dy.size(), grain_of(cost), [&](Index begin, Index end) {
          const auto compute = [&](Index at, Index size, const T* g, const T* values) {
            const T* const upstream = dy.data() + at;
            T *const to_g = dg.data() + at, *const to_x = dx.data() + at;
            with_activation<T>(activation, [&](auto f) {
#pragma omp simd
              for (Index i = 0; i < size; ++i) {
                const T z = g[i], value = f.value(z);
                to_g[i] = upstream[i] * values[i] * f.slope(z, value);
                to_x[i] = upstream[i] * value;
              }
            });
          };
          for_each_part(begin, end, compute, g_value, x_value);
        });
        if (gate != no_node) backward.add_gradient(gate, dg);
        if (x != no_node) backward.add_gradient(x, dx);
      });
}

// Forward:  y = x > 0 ? x : slope x.
// Backward: dx = x > 0 ? dy : slope dy.
template <class T>
Var<T> leaky_relu(const Var<T>& x, double slope) {
  const auto apply = [slope = static_cast<T>(slope)](T v, T of_positive) {
    return v > T{0} ? of_positive : slope * of_positive;
  };
  Tensor<T> y = x.tape().uninitialized(x.shape());
  transform(apply, y, x.value(), x.value());
  return x.tape().record(
      "leaky_relu", y, {x.node()},
      [x = x.node(), value = x.value(), apply](Tape<T>& backward, const Tensor<T>& dy) {
        backward.gradient(x).add(apply, value, dy);
      });
}

template Var<float> activate(const Var<float>&, Activation);
template Var<double> activate(const Var<double>&, Activation);
template Var<float> gated(const Var<float>&, const Var<float>&, Activation);
template Var<double> gated(const Var<double>&, const Var<double>&, Activation);
template Var<float> leaky_relu(const Var<float>&, double);
template Var<double> leaky_relu(const Var<double>&, double);

}  // namespace weft
