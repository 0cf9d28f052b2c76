#include "weft/autograd/ops/rms_norm.hpp"

#include <cmath>

#include "autograd/internal/checks.hpp"
#include "autograd/kernels/column_sums.hpp"
#include "autograd/kernels/vector.hpp"

namespace weft {

// Forward:  y = h w, h = x r, r = 1 / √(mean(x²) + eps), over the last axis.
// Backward: with g = dy w: dx = r (g - h mean(g h)), dw = Σ dy h over rows. Keeps x and each row's
// r.
template <class T>
Var<T> rms_norm(const Var<T>& x, const Var<T>& weight, double eps) {
  Pass<T>& pass = pass_of("rms_norm", x, weight);
  if (x.rank() < 1) fail<ShapeError>("rms_norm", "at least one axis", x.shape());
  const Index n = x.shape().columns(), rows = x.shape().rows();
  if (weight.shape() != Shape{n})
    fail<ShapeError>("rms_norm: weight", concatenate_text(Shape{n}, " for x of shape ", x.shape()),
                     weight.shape());
  check_at_least("rms_norm: eps", eps, 0.0);

  Tensor<T> y = pass.uninitialized(x.shape());
  Tensor<T> scales = pass.uninitialized({rows});
  parallel_for(rows, grain_of(3 * n), [&](Index begin, Index end) {
    for (Index row = begin; row < end; ++row) {
      const T* x_row = x.value().data() + row * n;
      const T square = sum_of_row(n, product, x_row, x_row) / static_cast<T>(n);
      const T scale = T{1} / std::sqrt(square + static_cast<T>(eps));
      const auto result = [scale](const auto& v, const auto& w) { return v * scale * w; };
      map_row(n, y.data() + row * n, result, x_row, weight.value().data());
      scales.data()[row] = scale;
    }
  });

  return pass.record(
      "rms_norm", y, {x.node(), weight.node()},
      [x = x.node(), w = weight.node(), x_value = x.value(), w_value = weight.value(), scales, n,
       rows](Pass<T>& backward, const Tensor<T>& dy) {
        const Gradient<T> dx = backward.gradient(x);
        const auto add_rows = [&](Index begin, Index end, T* dw_sum) {
          const T* weights = w_value.data();
          for (Index row = begin; row < end; ++row) {
            const T* x_row = x_value.data() + row * n;
            const T* dy_row = dy.data() + row * n;
            const T scale = scales.data()[row];
            const auto dy_h = [scale](const auto& d, const auto& v) { return d * (v * scale); };
            accumulate_row(n, dw_sum, false, dy_h, dy_row, x_row);
            if (!dx) continue;
            const auto gh = [scale](const auto& d, const auto& weight_j, const auto& v) {
              return d * weight_j * (v * scale);
            };
            const T gh_mean = sum_of_row(n, gh, dy_row, weights, x_row) / static_cast<T>(n);
            const auto slope = [scale, gh_mean](const auto& d, const auto& weight_j,
                                                const auto& v) {
              return scale * (d * weight_j - v * scale * gh_mean);
            };
            accumulate_row(n, dx.data() + row * n, dx.fresh, slope, dy_row, weights, x_row);
          }
        };
        const Tensor<T> sums = sum_over_rows(backward, rows, n, 6 * n, add_rows);
        if (const Gradient<T> dw = backward.gradient(w)) accumulate(dw, 0, n, array(sums, 0, n));
      });
}

template Var<float> rms_norm(const Var<float>&, const Var<float>&, double);
template Var<double> rms_norm(const Var<double>&, const Var<double>&, double);

}  // namespace weft
