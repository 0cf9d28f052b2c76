#include "weft/autograd/ops/reductions.hpp"

#include "weft/autograd/ops/permute.hpp"
#include "weft/autograd/ops/shaping.hpp"
#include "autograd/kernels/reduce.hpp"

namespace weft {
namespace {

// The input of a reduction, its layout and the shape of the result.
template <class T>
struct Reduction {
  Var<T> x;
  ReductionLayout layout;
  Shape result;
};

template <class T>
Reduction<T> over_all(const Var<T>& x) {
  return {x, {1, x.size(), 1}, Shape{}};
}

// If the axes to reduce are not adjacent, permutes them to the end first.
template <class T>
Reduction<T> over_axes(const char* operation, const Var<T>& x, std::initializer_list<Index> axes,
                       bool keep_axes) {
  std::array<bool, Shape::max_rank> reduced{};
  for (Index axis : axes) {
    bool& given = reduced[static_cast<std::size_t>(x.shape().normalized(axis, operation))];
    if (std::exchange(given, true))
      fail<ShapeError>(operation, str_cat("each axis of ", x.shape(), " at most once"),
                       str_cat("axis ", axis, " twice"));
  }

  ReductionLayout layout;
  Shape result = x.shape();
  bool adjacent = true;
  for (Index axis = 0; axis < x.rank(); ++axis) {
    const Index size = x.shape()[axis];
    if (!reduced[static_cast<std::size_t>(axis)]) {
      (layout.reduced == 1 ? layout.outer : layout.inner) *= size;
      continue;
    }
    adjacent = adjacent && (size == 1 || layout.inner == 1);
    layout.reduced *= size;
    result = result.with(axis, 1);
  }
  if (!keep_axes)
    for (Index axis = x.rank() - 1; axis >= 0; --axis)
      if (reduced[static_cast<std::size_t>(axis)]) result = result.without(axis);
  if (adjacent) return {x, layout, result};

  std::array<Index, Shape::max_rank> order{};
  std::size_t count = 0;
  for (bool to_reduce : {false, true})
    for (Index axis = 0; axis < x.rank(); ++axis)
      if (reduced[static_cast<std::size_t>(axis)] == to_reduce) order[count++] = axis;
  return {permute(x, std::span<const Index>(order.data(), count)),
          {layout.outer * layout.inner, layout.reduced, 1},
          result};
}

template <class T>
void check_not_empty(const char* operation, const Reduction<T>& reduction) {
  if (reduction.layout.reduced == 0)
    fail<ShapeError>(operation, "at least one element to reduce", reduction.x.shape());
}

template <class T>
Tensor<T> sum_of(const Reduction<T>& reduction) {
  const auto& [x, layout, result] = reduction;
  return reduce<Sum>(x.tape(), layout, Elements<T>{x.value().data()}).reshaped(result);
}

template <class T>
Tensor<T> mean_of(const Reduction<T>& reduction) {
  Tensor<T> mean = sum_of(reduction);
  array(mean, 0, mean.size()) /= static_cast<T>(reduction.layout.reduced);
  return mean;
}

// Forward:  y = Σ x.
// Backward: dx = dy.
template <class T>
Var<T> sum(const Reduction<T>& reduction) {
  const Var<T>& x = reduction.x;
  return x.tape().record(
      "sum", sum_of(reduction), {x.node()},
      [x = x.node(), layout = reduction.layout](Tape<T>& backward, const Tensor<T>& dy) {
        const T* g = dy.data();
        add_broadcast(backward.gradient(x), layout, [g](Index, Index result) { return g[result]; });
      });
}

// Forward:  y = Σ x / n.
// Backward: dx = dy / n.
template <class T>
Var<T> mean(const Reduction<T>& reduction) {
  check_not_empty("mean", reduction);
  const Var<T>& x = reduction.x;
  return x.tape().record(
      "mean", mean_of(reduction), {x.node()},
      [x = x.node(), layout = reduction.layout](Tape<T>& backward, const Tensor<T>& dy) {
        const T factor = T{1} / static_cast<T>(layout.reduced);
        const T* g = dy.data();
        add_broadcast(backward.gradient(x), layout,
                      [g, factor](Index, Index result) { return g[result] * factor; });
      });
}

// Forward:  y = max x, or min x.
// Backward: dx = dy / (number of elements with x = y) at these elements, 0 elsewhere.
template <class Extremum, class T>
Var<T> extremum(const char* operation, const Reduction<T>& reduction) {
  check_not_empty(operation, reduction);
  const Var<T>& x = reduction.x;
  const ReductionLayout& layout = reduction.layout;
  const Tensor<T> y =
      reduce<Extremum>(x.tape(), layout, Elements<T>{x.value().data()}).reshaped(reduction.result);
  return x.tape().record(
      operation, y, {x.node()},
      [x = x.node(), x_value = x.value(), y, layout](Tape<T>& backward, const Tensor<T>& dy) {
        const auto is_extremum = [v = x_value.data(), m = y.data()](Index element, Index result) {
          return v[element] == m[result];
        };
        Tensor<T> tied_gradient = reduce<Sum>(backward, layout, is_extremum);
        array(tied_gradient, 0, tied_gradient.size()) =
            array(dy, 0, dy.size()) / array(tied_gradient, 0, tied_gradient.size());
        add_broadcast(backward.gradient(x), layout,
                      [is_extremum, g = tied_gradient.data()](Index element, Index result) {
                        return is_extremum(element, result) ? g[result] : T{0};
                      });
      });
}

// Forward:  y = Σ (x - mean)² / (n - correction), in two passes.
// Backward: dx = dy · 2 (x - mean) / (n - correction).
template <class T>
Var<T> variance(const Reduction<T>& reduction, Index correction) {
  const Var<T>& x = reduction.x;
  const ReductionLayout& layout = reduction.layout;
  if (correction < 0) fail<ValueError>("variance", "a correction of at least 0", correction);
  if (layout.reduced <= correction)
    fail<ShapeError>("variance",
                     str_cat("more elements to reduce than the correction ", correction),
                     str_cat(layout.reduced, " of ", x.shape()));
  const auto divisor = static_cast<T>(layout.reduced - correction);
  const Tensor<T> mean = mean_of(reduction);
  const auto square = [v = x.value().data(), m = mean.data()](Index element, Index result) {
    const T deviation = v[element] - m[result];
    return deviation * deviation;
  };
  Tensor<T> y = reduce<Sum>(x.tape(), layout, square).reshaped(reduction.result);
  array(y, 0, y.size()) /= divisor;
  return x.tape().record("variance", y, {x.node()},
                         [x = x.node(), x_value = x.value(), mean, layout, divisor](
                             Tape<T>& backward, const Tensor<T>& dy) {
                           add_broadcast(backward.gradient(x), layout,
                                         [v = x_value.data(), m = mean.data(), g = dy.data(),
                                          factor = T{2} / divisor](Index element, Index result) {
                                           return (v[element] - m[result]) * (g[result] * factor);
                                         });
                         });
}

}  // namespace

template <class T>
Var<T> sum(const Var<T>& x) {
  return sum(over_all(x));
}
template <class T>
Var<T> sum(const Var<T>& x, std::initializer_list<Index> axes, bool keep_axes) {
  return sum(over_axes("sum", x, axes, keep_axes));
}

template <class T>
Var<T> mean(const Var<T>& x) {
  return mean(over_all(x));
}
template <class T>
Var<T> mean(const Var<T>& x, std::initializer_list<Index> axes, bool keep_axes) {
  return mean(over_axes("mean", x, axes, keep_axes));
}

template <class T>
Var<T> max(const Var<T>& x) {
  return extremum<Max>("max", over_all(x));
}
template <class T>
Var<T> max(const Var<T>& x, std::initializer_list<Index> axes, bool keep_axes) {
  return extremum<Max>("max", over_axes("max", x, axes, keep_axes));
}

template <class T>
Var<T> min(const Var<T>& x) {
  return extremum<Min>("min", over_all(x));
}
template <class T>
Var<T> min(const Var<T>& x, std::initializer_list<Index> axes, bool keep_axes) {
  return extremum<Min>("min", over_axes("min", x, axes, keep_axes));
}

template <class T>
Var<T> variance(const Var<T>& x, Index correction) {
  return variance(over_all(x), correction);
}
template <class T>
Var<T> variance(const Var<T>& x, std::initializer_list<Index> axes, Index correction,
                bool keep_axes) {
  return variance(over_axes("variance", x, axes, keep_axes), correction);
}

template Var<float> sum(const Var<float>&);
template Var<double> sum(const Var<double>&);
template Var<float> sum(const Var<float>&, std::initializer_list<Index>, bool);
template Var<double> sum(const Var<double>&, std::initializer_list<Index>, bool);
template Var<float> mean(const Var<float>&);
template Var<double> mean(const Var<double>&);
template Var<float> mean(const Var<float>&, std::initializer_list<Index>, bool);
template Var<double> mean(const Var<double>&, std::initializer_list<Index>, bool);
template Var<float> max(const Var<float>&);
template Var<double> max(const Var<double>&);
template Var<float> max(const Var<float>&, std::initializer_list<Index>, bool);
template Var<double> max(const Var<double>&, std::initializer_list<Index>, bool);
template Var<float> min(const Var<float>&);
template Var<double> min(const Var<double>&);
template Var<float> min(const Var<float>&, std::initializer_list<Index>, bool);
template Var<double> min(const Var<double>&, std::initializer_list<Index>, bool);
template Var<float> variance(const Var<float>&, Index);
template Var<double> variance(const Var<double>&, Index);
template Var<float> variance(const Var<float>&, std::initializer_list<Index>, Index, bool);
template Var<double> variance(const Var<double>&, std::initializer_list<Index>, Index, bool);

}  // namespace weft
