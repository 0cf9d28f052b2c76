#include "weft/autograd/ops/normalization.hpp"

#include <algorithm>
#include <cmath>

#include "autograd/kernels/column_sums.hpp"
#include "autograd/kernels/vector.hpp"

namespace weft {
namespace {

template <class T>
void check_rank(const char* operation, const Var<T>& x) {
  if (x.rank() < 1) fail<ShapeError>(operation, "at least one axis", x.shape());
}

// Throws ShapeError unless each parameter has one element per column of x, and ValueError unless
// eps ≥ 0.
template <class T>
void check_norm(const char* operation, const Var<T>& x, double eps,
                std::initializer_list<std::pair<const char*, Shape>> parameters) {
  check_rank(operation, x);
  const Shape expected{x.shape().columns()};
  for (const auto& [name, shape] : parameters)
    if (shape != expected)
      fail<ShapeError>(str_cat(operation, ": ", name),
                       str_cat(expected, " for x of shape ", x.shape()), shape);
  if (!(eps >= 0.0)) fail<ValueError>(str_cat(operation, ": eps"), "a number ≥ 0", eps);
}

// Returns 1 / √(mean(d²) + eps) over d = deviation(x_j) of a row. If the squares of deviations
// overflow, divides the deviations by the largest one first; eps is then negligible and ignored.
template <class T, class Deviation>
T inverse_scale(Index n, const T* row, double eps, const Deviation& deviation) {
  const auto square = [&](const auto& v) { return deviation(v) * deviation(v); };
  const T mean_square = sum_of_row(n, square, row) / static_cast<T>(n);
  if (!std::isinf(mean_square)) return T{1} / std::sqrt(mean_square + static_cast<T>(eps));
  T largest = 0;
  for (Index j = 0; j < n; ++j) largest = std::max(largest, std::abs(deviation(row[j])));
  const auto share = [&](const auto& v) {
    const auto d = deviation(v) / largest;
    return d * d;
  };
  return T{1} / largest / std::sqrt(sum_of_row(n, share, row) / static_cast<T>(n));
}

}  // namespace

// Forward:  y = h w + b, h = (x - mean) r, r = 1 / √(variance + eps), over the last axis.
// Backward: with g = dy w: dx = r (g - mean(g) - h mean(g h)), dw = Σ dy h, db = Σ dy over rows.
// Keeps x and each row's mean and r. Sums over rows are computed within ranges, and then over the
// ranges in order.
template <class T>
Var<T> layer_norm(const Var<T>& x, const Var<T>& weight, const Var<T>& bias, double eps) {
  Tape<T>& tape = tape_of("layer_norm", x, weight, bias);
  check_norm("layer_norm", x, eps, {{"weight", weight.shape()}, {"bias", bias.shape()}});
  const Index n = x.shape().columns(), rows = x.shape().rows();

  Tensor<T> y = tape.uninitialized(x.shape());
  Tensor<T> means = tape.uninitialized({rows}), scales = tape.uninitialized({rows});
  parallel_for(rows, grain_of(4 * n), [&](Index begin, Index end) {
    const T* w = weight.value().data();
    const T* b = bias.value().data();
    for (Index row = begin; row < end; ++row) {
      const T* x_row = x.value().data() + row * n;
      const T mean = sum_of_row(n, identity, x_row) / static_cast<T>(n);
      const T scale = inverse_scale(n, x_row, eps, [=](const auto& v) { return v - mean; });
      const auto result = [=](const auto& v, const auto& weight_j, const auto& bias_j) {
        return (v - mean) * scale * weight_j + bias_j;
      };
      map_row(n, y.data() + row * n, result, x_row, w, b);
      means.data()[row] = mean;
      scales.data()[row] = scale;
    }
  });

  return tape.record(
      "layer_norm", y, {x.node(), weight.node(), bias.node()},
      [x = x.node(), w = weight.node(), b = bias.node(), x_value = x.value(),
       w_value = weight.value(), means, scales](Tape<T>& backward, const Tensor<T>& dy) {
        const Index columns = x_value.shape().columns(), count = x_value.shape().rows();
        const Gradient<T> dx = backward.gradient(x);
        const auto add_rows = [&](Index begin, Index end, T* dw_sum) {
          T* db_sum = dw_sum + columns;
          const T* weights = w_value.data();
          const T inverse_columns = T{1} / static_cast<T>(columns);
          for (Index row = begin; row < end; ++row) {
            const T* x_row = x_value.data() + row * columns;
            const T* dy_row = dy.data() + row * columns;
            const T mean = means.data()[row], scale = scales.data()[row];
            const auto normalized = [mean, scale](const auto& v) { return (v - mean) * scale; };
            const auto h_times = [&](const auto& d, const auto& v) { return normalized(v) * d; };
            accumulate_row(columns, dw_sum, false, h_times, dy_row, x_row);
            accumulate_row(columns, db_sum, false, identity, dy_row);
            if (!dx) continue;
            const T g_mean = inverse_columns * sum_of_row(columns, product, dy_row, weights);
            const auto g_times_h = [&](const auto& d, const auto& weight_j, const auto& v) {
              return d * weight_j * normalized(v);
            };
            const T gh_mean =
                inverse_columns * sum_of_row(columns, g_times_h, dy_row, weights, x_row);
            const auto slope = [&](const auto& d, const auto& weight_j, const auto& v) {
              return scale * (d * weight_j - g_mean - normalized(v) * gh_mean);
            };
            accumulate_row(columns, dx.data() + row * columns, dx.fresh, slope, dy_row, weights,
                           x_row);
          }
        };
        // dw, then db.
        const Tensor<T> sums = sum_over_rows(backward, count, 2 * columns, 6 * columns, add_rows);
        if (const Gradient<T> dw = backward.gradient(w))
          accumulate(dw, 0, columns, array(sums, 0, columns));
        if (const Gradient<T> db = backward.gradient(b))
          accumulate(db, 0, columns, array(sums, columns, 2 * columns));
      });
}

// Forward:  y = h w, h = x r, r = 1 / √(mean(x²) + eps), over the last axis.
// Backward: with g = dy w: dx = r (g - h mean(g h)), dw = Σ dy h over rows.
// Keeps x and each row's r.
template <class T>
Var<T> rms_norm(const Var<T>& x, const Var<T>& weight, double eps) {
  Tape<T>& tape = tape_of("rms_norm", x, weight);
  check_norm("rms_norm", x, eps, {{"weight", weight.shape()}});
  const Index n = x.shape().columns(), rows = x.shape().rows();

  Tensor<T> y = tape.uninitialized(x.shape());
  Tensor<T> scales = tape.uninitialized({rows});
  parallel_for(rows, grain_of(3 * n), [&](Index begin, Index end) {
    for (Index row = begin; row < end; ++row) {
      const T* x_row = x.value().data() + row * n;
      const T scale = inverse_scale(n, x_row, eps, identity);
      const auto result = [scale](const auto& v, const auto& w) { return v * scale * w; };
      map_row(n, y.data() + row * n, result, x_row, weight.value().data());
      scales.data()[row] = scale;
    }
  });

  return tape.record(
      "rms_norm", y, {x.node(), weight.node()},
      [x = x.node(), w = weight.node(), x_value = x.value(), w_value = weight.value(), scales, n,
       rows](Tape<T>& backward, const Tensor<T>& dy) {
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

// Forward:  y = x / ‖x‖ over the last axis; 0 where ‖x‖ is 0.
// Backward: dx = (dy - y <y, dy>) / ‖x‖; 0 where ‖x‖ is 0. Keeps y and each row's ‖x‖.
template <class T>
Var<T> normalize(const Var<T>& x) {
  check_rank("normalize", x);
  const Index n = x.shape().columns(), rows = x.shape().rows();
  Tensor<T> y = x.tape().uninitialized(x.shape());
  Tensor<T> norms = x.tape().uninitialized({rows});
  parallel_for(rows, grain_of(4 * n), [&](Index begin, Index end) {
    for (Index row = begin; row < end; ++row) {
      const auto x_row = array(x.value(), row * n, (row + 1) * n);
      auto y_row = array(y, row * n, (row + 1) * n);
      // Scaling to at most 1 prevents the squares from overflowing.
      T largest = 0;
      for (Index j = 0; j < n; ++j) largest = std::max(largest, std::abs(x_row[j]));
      y_row = x_row / (largest == T{0} ? T{1} : largest);
      const T norm = std::sqrt(y_row.square().sum());
      if (largest != T{0}) y_row /= norm;
      norms.data()[row] = largest * norm;
    }
  });
  return x.tape().record(
      "normalize", y, {x.node()}, [x = x.node(), y, norms](Tape<T>& backward, const Tensor<T>& dy) {
        const Gradient<T> dx = backward.gradient(x);
        const Index columns = y.shape().columns();
        parallel_for(y.shape().rows(), grain_of(4 * columns), [&](Index begin, Index end) {
          for (Index row = begin; row < end; ++row) {
            const Index first = row * columns, last = first + columns;
            const auto y_row = array(y, first, last), dy_row = array(dy, first, last);
            const T norm = norms.data()[row];
            if (norm == T{0})
              accumulate(dx, first, last, T{0} * y_row);
            else
              accumulate(dx, first, last, (dy_row - y_row * (y_row * dy_row).sum()) / norm);
          }
        });
      });
}

template Var<float> rms_norm(const Var<float>&, const Var<float>&, double);
template Var<double> rms_norm(const Var<double>&, const Var<double>&, double);
template Var<float> normalize(const Var<float>&);
template Var<double> normalize(const Var<double>&);
template Var<float> layer_norm(const Var<float>&, const Var<float>&, const Var<float>&, double);
template Var<double> layer_norm(const Var<double>&, const Var<double>&, const Var<double>&, double);

}  // namespace weft
