#include "weft/autograd/ops/dropout.hpp"

#include "autograd/internal/checks.hpp"
#include "autograd/kernels/arrays.hpp"
#include "autograd/kernels/dropout_mask.hpp"

namespace weft {

// Forward:  y = x m / (1 - p), m_i = 1 where the mask keeps element i and 0 elsewhere.
// Backward: dx = dy m / (1 - p), with m regenerated.
template <class T>
Var<T> dropout(const Var<T>& x, double p) {
  check_probability("dropout: p", p);
  Tape<T>& tape = x.tape();
  if (!tape.training() || p == 0.0) return x;
  const DropoutMask mask(tape.next_random_stream(), p);
  Tensor<T> y = tape.uninitialized(x.shape());
  parallel_for(x.size(), grain_of(2), [&](Index begin, Index end) {
    mask.apply(begin, x.value().data() + begin, y.data() + begin, end - begin);
  });
  return tape.record("dropout", y, {x.node()},
                     [x = x.node(), mask](Tape<T>& backward, const Tensor<T>& dy) {
                       const Gradient<T> dx = backward.gradient(x);
                       parallel_for(dy.size(), grain_of(2), [&](Index begin, Index end) {
                         const T* from = dy.data() + begin;
                         T* to = dx.data() + begin;
                         if (dx.fresh)
                           mask.apply(begin, from, to, end - begin);
                         else
                           mask.add(begin, from, to, end - begin);
                       });
                     });
}

template Var<float> dropout(const Var<float>&, double);
template Var<double> dropout(const Var<double>&, double);

}  // namespace weft
