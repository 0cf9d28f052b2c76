#include "weft/autograd/ops/mask_rows.hpp"

#include "autograd/kernels/arrays.hpp"

namespace weft {

// Forward:  y = x in the rows that are kept, 0 in the others.
// Backward: dx = dy in the rows that are kept, 0 in the others.
template <class T>
Var<T> mask_rows(const Var<T>& x, const Tensor<bool>& kept) {
  if (x.rank() < 1) fail<ShapeError>("mask_rows", "at least one axis", x.shape());
  if (kept.shape() != x.shape().without(-1))
    fail<ShapeError>(
        "mask_rows",
        concatenate_text("kept of shape ", x.shape().without(-1), " for x of shape ", x.shape()),
        kept.shape());
  Tensor<T> y = x.pass().zeros(x.shape());
  const Index n = x.shape().columns();
  const auto for_kept_rows = [n, kept](const auto& body) {
    parallel_for(kept.size(), grain_of(n), [&](Index begin, Index end) {
      for (Index row = begin; row < end; ++row)
        if (kept.data()[row]) body(row * n, (row + 1) * n);
    });
  };
  for_kept_rows(
      [&](Index begin, Index end) { array(y, begin, end) = array(x.value(), begin, end); });
  return x.pass().record("mask_rows", y, {x.node()},
                         [x = x.node(), for_kept_rows](Pass<T>& backward, const Tensor<T>& dy) {
                           Gradient<T> dx = backward.gradient(x);
                           dx.zero_if_fresh();
                           for_kept_rows([&](Index begin, Index end) {
                             accumulate(dx, begin, end, array(dy, begin, end));
                           });
                         });
}

template Var<float> mask_rows(const Var<float>&, const Tensor<bool>&);
template Var<double> mask_rows(const Var<double>&, const Tensor<bool>&);

}  // namespace weft
