#include "weft/autograd/ops/cumsum.hpp"

#include "autograd/kernels/arrays.hpp"
#include "autograd/kernels/axis_layout.hpp"

namespace weft {
namespace {

// Calls write(element, sum) with the running sum of x along the axis, from the last position to the
// first when `backwards`.
template <class T, class Write>
void running_sums(const Tensor<T>& x, const AxisLayout& layout, bool backwards,
                  const Write& write) {
  for_each_column_range(layout, 2 * layout.size, [&](Index o, Index first, Index last) {
    std::array<double, max_column_range> sums{};
    const T* const from = x.data();
    for (Index j = 0; j < layout.size; ++j) {
      const Index row = layout.offset(o, backwards ? layout.size - 1 - j : j, 0);
      for (Index c = first; c < last; ++c) {
        double& sum = sums[static_cast<std::size_t>(c - first)];
        sum += static_cast<double>(from[row + c]);
        write(row + c, static_cast<T>(sum));
      }
    }
  });
}

}  // namespace

// Forward:  y_i = Σ x_j over j ≤ i.
// Backward: dx_j = Σ dy_i over i ≥ j.
template <class T>
Var<T> cumsum(const Var<T>& x, Index axis) {
  const AxisLayout layout(x.shape(), x.shape().normalized(axis, "cumsum"));
  Tensor<T> y = x.tape().uninitialized(x.shape());
  running_sums(x.value(), layout, false, [to = y.data()](Index i, T sum) { to[i] = sum; });
  return x.tape().record(
      "cumsum", y, {x.node()}, [x = x.node(), layout](Tape<T>& backward, const Tensor<T>& dy) {
        const Gradient<T> dx = backward.gradient(x);
        running_sums(dy, layout, true,
                     [dx](Index i, T sum) { dx.data()[i] = dx.fresh ? sum : dx.data()[i] + sum; });
      });
}

template Var<float> cumsum(const Var<float>&, Index);
template Var<double> cumsum(const Var<double>&, Index);

}  // namespace weft
