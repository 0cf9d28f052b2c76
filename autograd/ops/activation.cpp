#include "weft/autograd/ops/activation.hpp"

#include "autograd/kernels/arrays.hpp"
#include "autograd/ops/internal/activation_functions.hpp"

namespace weft {

// Forward:  y = f(x).
// Backward: dx = dy f'(x), computed from x or y, whichever the activation needs.
template <class T>
Var<T> activate(const Var<T>& x, Activation activation) {
  if (activation == Activation::none) return x;
  constexpr Index cost = 12;  // of an element, in multiply-adds
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
template Var<float> leaky_relu(const Var<float>&, double);
template Var<double> leaky_relu(const Var<double>&, double);

}  // namespace weft
