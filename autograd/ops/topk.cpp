#include "weft/autograd/ops/topk.hpp"

#include <limits>
#include <numeric>
#include <vector>

#include "autograd/kernels/arrays.hpp"
#include "autograd/kernels/axis_layout.hpp"

namespace weft {
namespace {

// Returns whether a comes before b in descending or ascending order; NaN comes first.
struct Larger {
  template <class T>
  bool operator()(T a, T b) const {
    return a > b || (a != a && b == b);
  }
};
struct Smaller {
  template <class T>
  bool operator()(T a, T b) const {
    return a < b || (a != a && b == b);
  }
};

// Returns the first position along the axis of the element that comes before all other elements.
template <class T, class Before>
Indices first_along(const char* operation, const Tensor<T>& x, Index axis, bool keep_axis,
                    const Before& before) {
  axis = x.shape().normalized(axis, operation);
  const AxisLayout layout(x.shape(), axis);
  if (layout.size == 0 || layout.size > std::numeric_limits<std::int32_t>::max())
    fail<ShapeError>(operation, str_cat("1 to 2^31 - 1 elements on axis ", axis), x.shape());
  auto positions =
      Indices::uninitialized(keep_axis ? x.shape().with(axis, 1) : x.shape().without(axis));
  std::int32_t* const to = positions.data();
  for_each_column_range(layout, layout.size, [&](Index o, Index first, Index last) {
    for (Index c = first; c < last; ++c) to[o * layout.inner + c] = 0;
    for (Index j = 1; j < layout.size; ++j)
      for (Index c = first; c < last; ++c) {
        std::int32_t& best = to[o * layout.inner + c];
        if (before(x.data()[layout.offset(o, j, c)], x.data()[layout.offset(o, best, c)]))
          best = static_cast<std::int32_t>(j);
      }
  });
  return positions;
}

template <class T, class Before>
Index first_of_all(const char* operation, const Tensor<T>& x, const Before& before) {
  if (x.empty()) fail<ShapeError>(operation, "at least one element", x.shape());
  const Index grain = grain_of(1);
  std::vector<Index> firsts(static_cast<std::size_t>((x.size() - 1) / grain + 1));
  parallel_for(x.size(), grain, [&](Index begin, Index end) {
    Index best = begin;
    for (Index i = begin + 1; i < end; ++i)
      if (before(x.data()[i], x.data()[best])) best = i;
    firsts[static_cast<std::size_t>(begin / grain)] = best;
  });
  Index best = 0;
  for (const Index i : firsts)
    if (before(x.data()[i], x.data()[best])) best = i;
  return best;
}

template <class T, class Before>
void order_first(const Tensor<T>& x, const AxisLayout& from, Indices& indices, const AxisLayout& to,
                 const Before& before) {
  std::int32_t* const result = indices.data();
  for_each_column_range(from, 8 * from.size,
                        [&, values = x.data()](Index o, Index first, Index last) {
                          std::vector<std::int32_t> order(static_cast<std::size_t>(from.size));
                          for (Index c = first; c < last; ++c) {
                            std::iota(order.begin(), order.end(), 0);
                            std::partial_sort(order.begin(), order.begin() + to.size, order.end(),
                                              [&](std::int32_t a, std::int32_t b) {
                                                const T v = values[from.offset(o, a, c)];
                                                const T w = values[from.offset(o, b, c)];
                                                return before(v, w) || (a < b && !before(w, v));
                                              });
                            for (Index j = 0; j < to.size; ++j)
                              result[to.offset(o, j, c)] = order[static_cast<std::size_t>(j)];
                          }
                        });
}

}  // namespace

template <class T>
Indices argmax(const Tensor<T>& x, Index axis, bool keep_axis) {
  return first_along("argmax", x, axis, keep_axis, Larger());
}
template <class T>
Indices argmin(const Tensor<T>& x, Index axis, bool keep_axis) {
  return first_along("argmin", x, axis, keep_axis, Smaller());
}

template <class T>
Index argmax(const Tensor<T>& x) {
  return first_of_all("argmax", x, Larger());
}
template <class T>
Index argmin(const Tensor<T>& x) {
  return first_of_all("argmin", x, Smaller());
}

template <class T>
Indices topk_indices(const Tensor<T>& x, Index k, const TopKOptions& options) {
  const Index axis = x.shape().normalized(options.axis, "topk");
  const AxisLayout from(x.shape(), axis);
  if (k < 0 || k > from.size || from.size > std::numeric_limits<std::int32_t>::max())
    fail<ShapeError>("topk", str_cat("0 ≤ k ≤ the size of axis ", axis, " of ", x.shape()), k);
  const Shape shape = x.shape().with(axis, k);
  auto indices = Indices::uninitialized(shape);
  const AxisLayout to(shape, axis);
  if (options.largest)
    order_first(x, from, indices, to, Larger());
  else
    order_first(x, from, indices, to, [](T a, T b) { return a < b || (a == a && b != b); });
  return indices;
}

template Indices argmax(const Tensor<float>&, Index, bool);
template Indices argmax(const Tensor<double>&, Index, bool);
template Indices argmin(const Tensor<float>&, Index, bool);
template Indices argmin(const Tensor<double>&, Index, bool);
template Index argmax(const Tensor<float>&);
template Index argmax(const Tensor<double>&);
template Index argmin(const Tensor<float>&);
template Index argmin(const Tensor<double>&);
template Indices topk_indices(const Tensor<float>&, Index, const TopKOptions&);
template Indices topk_indices(const Tensor<double>&, Index, const TopKOptions&);

}  // namespace weft
