#include "weft/autograd/ops/indexing.hpp"

#include "weft/autograd/ops/shaping.hpp"
#include "autograd/kernels/arrays.hpp"
#include "autograd/kernels/axis_layout.hpp"

namespace weft {
namespace {

// Throws ValueError unless every index is a position of an axis of this size.
void check_indices(const char* operation, const Indices& indices, Index size) {
  for (Index i = 0; i < indices.size(); ++i)
    if (const Index index = indices.data()[i]; index < 0 || index >= size)
      fail<ValueError>(
          str_cat(operation, ": index at ", indices.shape().position(i)),
          size > 0 ? str_cat("a value from 0 to ", size - 1) : "no index for an empty axis", index);
}

// Forward:  y[o, j, c] = x[o, index[o, j, c], c].
// Backward: dx[o, i, c] = the sum of dy[o, j, c] over all j with index[o, j, c] = i, in the order
// of j. index_of(indices, layout, o, j, c) reads the index of element [o, j, c] of the result.
template <class T, class IndexOf>
Var<T> pick(const char* operation, const Var<T>& x, Index axis, const Indices& indices,
            const Shape& shape, const IndexOf& index_of) {
  check_indices(operation, indices, x.shape()[axis]);
  const AxisLayout from(x.shape(), axis), to(shape, axis);
  Tensor<T> y_tensor = x.tape().uninitialized(shape);
  T* const y = y_tensor.data();
  parallel_for(y_tensor.size(), grain_of(2), [&](Index begin, Index end) {
    const T* const v = x.value().data();
    const std::int32_t* const index = indices.data();
    for (Index i = begin; i < end;) {
      const Index row = i / to.inner, o = row / to.size, j = row % to.size;
      const Index first = i % to.inner, last = std::min(to.inner, first + end - i);
      for (Index c = first; c < last; ++c, ++i)
        y[i] = v[from.offset(o, index_of(index, to, o, j, c), c)];
    }
  });
  return x.tape().record(
      operation, y_tensor, {x.node()},
      [x = x.node(), indices = x.tape().keep(indices), from, to, index_of](Tape<T>& backward,
                                                                           const Tensor<T>& dy) {
        const Gradient<T> dx = backward.gradient(x);
        if (dx.fresh)
          parallel_for(std::ssize(dx.values), grain_of(1),
                       [&](Index begin, Index end) { array(dx.data(), begin, end).setZero(); });
        for_each_column_range(to, 2 * to.size, [&](Index o, Index first, Index last) {
          const std::int32_t* const index = indices.data();
          const T* const upstream = dy.data();
          for (Index j = 0; j < to.size; ++j)
            for (Index c = first; c < last; ++c)
              dx.data()[from.offset(o, index_of(index, to, o, j, c), c)] +=
                  upstream[to.offset(o, j, c)];
        });
      });
}

}  // namespace

template <class T>
Var<T> gather(const Var<T>& x, Index axis, const Indices& indices) {
  axis = x.shape().normalized(axis, "gather");
  bool fits = indices.rank() == x.rank();
  for (Index i = 0; fits && i < x.rank(); ++i)
    fits = i == axis || indices.shape()[i] <= x.shape()[i];
  if (!fits)
    fail<ShapeError>("gather",
                     str_cat("indices no larger than ", x.shape(), " except on axis ", axis),
                     indices.shape());
  Var<T> part = x;
  for (Index i = 0; i < x.rank(); ++i)
    if (i != axis && indices.shape()[i] < x.shape()[i])
      part = slice(part, i, 0, indices.shape()[i]);
  return pick("gather", part, axis, indices, indices.shape(),
              [](const std::int32_t* index, const AxisLayout& layout, Index o, Index j, Index c) {
                return Index{index[layout.offset(o, j, c)]};
              });
}

template <class T>
Var<T> index_select(const Var<T>& x, Index axis, const Indices& indices) {
  axis = x.shape().normalized(axis, "index_select");
  if (indices.rank() != 1) fail<ShapeError>("index_select", "indices [n]", indices.shape());
  return pick("index_select", x, axis, indices, x.shape().with(axis, indices.size()),
              [](const std::int32_t* index, const AxisLayout&, Index, Index j, Index) {
                return Index{index[j]};
              });
}

template <class T>
Var<T> select(const Var<T>& x, Index axis, Index index) {
  axis = x.shape().normalized(axis, "select");
  const Index size = x.shape()[axis];
  const Index position = index < 0 ? index + size : index;
  if (position < 0 || position >= size)
    fail<ShapeError>("select", str_cat("an index of axis ", axis, " of ", x.shape()), index);
  return reshape(slice(x, axis, position, position + 1), x.shape().without(axis));
}

template Var<float> gather(const Var<float>&, Index, const Indices&);
template Var<double> gather(const Var<double>&, Index, const Indices&);
template Var<float> index_select(const Var<float>&, Index, const Indices&);
template Var<double> index_select(const Var<double>&, Index, const Indices&);
template Var<float> select(const Var<float>&, Index, Index);
template Var<double> select(const Var<double>&, Index, Index);

}  // namespace weft
