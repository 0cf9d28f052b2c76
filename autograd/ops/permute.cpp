#include "weft/autograd/ops/permute.hpp"

#include <numeric>

#include "weft/autograd/ops/shaping.hpp"
#include "autograd/kernels/arrays.hpp"

namespace weft {
namespace {

using Order = std::array<Index, Shape::max_rank>;

std::size_t at(Index axis) { return static_cast<std::size_t>(axis); }

// One axis of a loop: the number of positions, and their strides in the source and the result.
struct Axis {
  Index size;
  Index source_stride;
  Index result_stride;
};

// A nested loop over several axes, innermost last.
struct Loop {
  std::array<Axis, Shape::max_rank> axes;
  Index rank = 0;

  void push(const Axis& axis) { axes[at(rank++)] = axis; }
  Axis remove(Index axis) {
    const Axis removed = axes[at(axis)];
    std::copy(axes.begin() + axis + 1, axes.begin() + rank--, axes.begin() + axis);
    return removed;
  }
  Index positions() const {
    Index product = 1;
    for (Index axis = 0; axis < rank; ++axis) product *= axes[at(axis)].size;
    return product;
  }
};

// Returns the loop that reads a source of shape `shape` in the order of the permuted result. Axes
// that are adjacent in both are merged; axes of size 1 are left out.
Loop permuted_loop(const Shape& shape, const Order& order) {
  Order stride{};
  for (Index axis = shape.rank() - 1, elements = 1; axis >= 0; elements *= shape[axis--])
    stride[at(axis)] = elements;
  Loop loop;
  for (Index i = 0; i < shape.rank(); ++i) {
    const Index size = shape[order[at(i)]], source_stride = stride[at(order[at(i)])];
    if (size == 1) continue;
    Axis* previous = loop.rank > 0 ? &loop.axes[at(loop.rank - 1)] : nullptr;
    if (previous && previous->source_stride == source_stride * size)
      *previous = {previous->size * size, source_stride, 0};
    else
      loop.push({size, source_stride, 0});
  }
  for (Index axis = loop.rank - 1, elements = 1; axis >= 0; --axis) {
    loop.axes[at(axis)].result_stride = elements;
    elements *= loop.axes[at(axis)].size;
  }
  return loop;
}

// Iterates over the positions of a loop, starting at any of them.
class LoopIterator {
 public:
  LoopIterator(const Loop& loop, Index position) : loop_(loop) {
    for (Index axis = loop.rank - 1; axis >= 0; --axis) {
      const auto& [size, source_stride, result_stride] = loop.axes[at(axis)];
      const Index index = position % size;
      position /= size;
      indices_[at(axis)] = index;
      source_ += index * source_stride;
      result_ += index * result_stride;
    }
  }

  void next() {
    for (Index axis = loop_.rank - 1; axis >= 0; --axis) {
      const auto& [size, source_stride, result_stride] = loop_.axes[at(axis)];
      source_ += source_stride;
      result_ += result_stride;
      if (++indices_[at(axis)] < size) return;
      indices_[at(axis)] = 0;
      source_ -= size * source_stride;
      result_ -= size * result_stride;
    }
  }

  Index index(Index axis) const { return indices_[at(axis)]; }
  // The offsets of the current position.
  Index source() const { return source_; }
  Index result() const { return result_; }

 private:
  const Loop& loop_;
  Order indices_{};
  Index source_ = 0;
  Index result_ = 0;
};

// For an innermost axis that stays innermost: copies whole runs.
template <class T>
void permute_runs(const T* from, Loop loop, const Gradient<T>& to) {
  const Index length = loop.remove(loop.rank - 1).size;
  parallel_for(loop.positions(), grain_of(length), [&](Index begin, Index end) {
    LoopIterator iterator(loop, begin);
    for (Index run = begin; run < end; ++run, iterator.next())
      accumulate(to, run * length, (run + 1) * length,
                 array(from, iterator.source(), iterator.source() + length));
  });
}

// The row stride of a matrix.
using RowStride = Eigen::OuterStride<>;
template <class T, int rows, int columns>
using Matrix = Eigen::Matrix<T, rows, columns, Eigen::RowMajor>;

// Writes or adds the transpose of `source` at `first`, with row stride `stride`.
template <class T, class Source>
void add_transposed(const Source& source, const Gradient<T>& to, Index first, Index stride) {
  using Transposed = Matrix<T, Source::ColsAtCompileTime, Source::RowsAtCompileTime>;
  Eigen::Map<Transposed, 0, RowStride> result(to.data() + first, source.cols(), source.rows(),
                                              RowStride(stride));
  if (to.fresh)
    result = source.transpose();
  else
    result += source.transpose();
}

// Writes or adds the transpose of a source of any size in memory, with row stride `source_stride`.
// Most of it is transposed in squares that fit into registers.
template <class T>
void transpose_block(const T* from, Index source_stride, Index rows, Index columns,
                     const Gradient<T>& to, Index first, Index stride) {
  constexpr int side = 4;
  const Index square_rows = rows / side * side, square_columns = columns / side * side;
  for (Index column = 0; column < square_columns; column += side)
    for (Index row = 0; row < square_rows; row += side) {
      const Matrix<T, side, side> square = Eigen::Map<const Matrix<T, side, side>, 0, RowStride>(
          from + row * source_stride + column, RowStride(source_stride));
      add_transposed(square, to, first + column * stride + row, stride);
    }
  const Eigen::Map<const Matrix<T, Eigen::Dynamic, Eigen::Dynamic>, 0, RowStride> source(
      from, rows, columns, RowStride(source_stride));
  add_transposed(source.rightCols(columns - square_columns), to, first + square_columns * stride,
                 stride);
  add_transposed(source.bottomLeftCorner(rows - square_rows, square_columns), to,
                 first + square_rows, stride);
}

// For an innermost axis of the source that moves: it and the innermost axis of the result form
// matrices, one for each position of the other axes. Transposes these matrices.
template <class T>
void permute_matrices(const T* from, Loop loop, const Gradient<T>& to) {
  constexpr Index side = 128;  // side of the blocks in which a matrix is transposed
  const Axis row = loop.remove(loop.rank - 1);
  Index position = 0;
  while (loop.axes[at(position)].source_stride != 1) ++position;
  const Axis column = loop.remove(position);
  loop.push({(column.size + side - 1) / side, side, side * column.result_stride});
  loop.push({(row.size + side - 1) / side, side * row.source_stride, side});
  const Index cost = std::min(side, row.size) * std::min(side, column.size);
  parallel_for(loop.positions(), grain_of(cost), [&](Index begin, Index end) {
    LoopIterator iterator(loop, begin);
    for (Index i = begin; i < end; ++i, iterator.next()) {
      const Index columns = std::min(side, column.size - iterator.index(loop.rank - 2) * side);
      const Index rows = std::min(side, row.size - iterator.index(loop.rank - 1) * side);
      transpose_block(from + iterator.source(), row.source_stride, rows, columns, to,
                      iterator.result(), column.result_stride);
    }
  });
}

// `loop` has at least one axis, and covers all elements.
template <class T>
void permute_elements(const Tensor<T>& from, const Loop& loop, const Gradient<T>& to) {
  if (loop.axes[at(loop.rank - 1)].source_stride == 1)
    permute_runs(from.data(), loop, to);
  else
    permute_matrices(from.data(), loop, to);
}

// Forward:  y = x with its axes in the given order.
// Backward: the inverse permutation of dy.
template <class T>
Var<T> record_permute(const char* operation, const Var<T>& x, const Order& order) {
  Order sizes{}, inverse{};
  for (Index i = 0; i < x.rank(); ++i) {
    sizes[at(i)] = x.shape()[order[at(i)]];
    inverse[at(order[at(i)])] = i;
  }
  const Shape shape(std::span<const Index>(sizes.data(), at(x.rank())));
  const Loop loop = permuted_loop(x.shape(), order);
  if (loop.rank <= 1 || x.size() == 0) return reshape(x, shape);

  Tensor<T> y = x.tape().uninitialized(shape);
  permute_elements(x.value(), loop, as_fresh_gradient(y));
  return x.tape().record(
      operation, y, {x.node()}, [x = x.node(), inverse](Tape<T>& backward, const Tensor<T>& dy) {
        permute_elements(dy, permuted_loop(dy.shape(), inverse), backward.gradient(x));
      });
}

}  // namespace

template <class T>
Var<T> permute(const Var<T>& x, std::span<const Index> axes) {
  Order order{};
  std::array<bool, Shape::max_rank> given{};
  bool each_once = std::ssize(axes) == x.rank();
  for (Index i = 0; each_once && i < x.rank(); ++i) {
    order[at(i)] = x.shape().normalized(axes[at(i)], "permute");
    each_once = !std::exchange(given[at(order[at(i)])], true);
  }
  if (!each_once) {
    std::string list;
    for (Index axis : axes) list += (list.empty() ? "" : ", ") + str_cat(axis);
    fail<ShapeError>("permute", str_cat("each axis of ", x.shape(), " once"), "(" + list + ")");
  }
  return record_permute("permute", x, order);
}

template <class T>
Var<T> transpose(const Var<T>& x, Index axis1, Index axis2) {
  Order order{};
  std::iota(order.begin(), order.end(), Index{0});
  std::swap(order[at(x.shape().normalized(axis1, "transpose"))],
            order[at(x.shape().normalized(axis2, "transpose"))]);
  return record_permute("transpose", x, order);
}

template Var<float> permute(const Var<float>&, std::span<const Index>);
template Var<double> permute(const Var<double>&, std::span<const Index>);
template Var<float> transpose(const Var<float>&, Index, Index);
template Var<double> transpose(const Var<double>&, Index, Index);

}  // namespace weft
