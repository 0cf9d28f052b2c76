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
  Tensor<T> y = x.pass().uninitialized(x.shape());
  parallel_for(x.size(), grain_of(cost), [&](Index begin, Index end) {
    apply_activation(activation, x.value().data() + begin, y.data() + begin, end - begin);
  });
  const Tensor<T> kept = slope_reads_input(activation) ? x.value() : y;
  return x.pass().record(name_of("activation", activation, activation_names), y, {x.node()},
                         [x = x.node(), kept, activation](Pass<T>& backward, const Tensor<T>& dy) {
                           Tensor<T> dx = backward.uninitialized(dy.shape());
                           parallel_for(dy.size(), grain_of(cost), [&](Index begin, Index end) {
                             activation_gradient(activation, kept.data() + begin,
                                                 kept.data() + begin, dy.data() + begin,
                                                 dx.data() + begin, end - begin);
                           });
                           backward.add_gradient(x, dx);
                         });
}

template Var<float> activate(const Var<float>&, Activation);
template Var<double> activate(const Var<double>&, Activation);

}  // namespace weft
