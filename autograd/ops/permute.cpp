#include "weft/autograd/ops/permute.hpp"

#include <numeric>

#include "weft/autograd/ops/shaping.hpp"
#include "autograd/kernels/arrays.hpp"

namespace weft {
namespace {

using Order = std::array<Index, Shape::max_rank>;

std::size_t at(Index axis) { return static_cast<std::size_t>(axis); }

// One axis of a loop: how many positions, and how far apart they lie in the source and the result.
struct Axis {
  Index size;
  Index source_step;
  Index result_step;
};

// A loop over several axes, the last one fastest.
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

// The loop that reads a source of shape `shape` in the order of the permuted result. Axes that
// follow each other in both are one; axes of size 1 are left out.
Loop permuted_loop(const Shape& shape, const Order& order) {
  Order step{};
  for (Index axis = shape.rank() - 1, elements = 1; axis >= 0; elements *= shape[axis--])
    step[at(axis)] = elements;
  Loop loop;
  for (Index i = 0; i < shape.rank(); ++i) {
    const Index size = shape[order[at(i)]], source_step = step[at(order[at(i)])];
    if (size == 1) continue;
    Axis* previous = loop.rank > 0 ? &loop.axes[at(loop.rank - 1)] : nullptr;
    if (previous && previous->source_step == source_step * size)
      *previous = {previous->size * size, source_step, 0};
    else
      loop.push({size, source_step, 0});
  }
  for (Index axis = loop.rank - 1, elements = 1; axis >= 0; --axis) {
    loop.axes[at(axis)].result_step = elements;
    elements *= loop.axes[at(axis)].size;
  }
  return loop;
}

// Goes through the positions of a loop from any of them on.
class Walk {
 public:
  Walk(const Loop& loop, Index position) : loop_(loop) {
    for (Index axis = loop.rank - 1; axis >= 0; --axis) {
      const auto& [size, source_step, result_step] = loop.axes[at(axis)];
      const Index index = position % size;
      position /= size;
      indices_[at(axis)] = index;
      source_ += index * source_step;
      result_ += index * result_step;
    }
  }

  void next() {
    for (Index axis = loop_.rank - 1; axis >= 0; --axis) {
      const auto& [size, source_step, result_step] = loop_.axes[at(axis)];
      source_ += source_step;
      result_ += result_step;
      if (++indices_[at(axis)] < size) return;
      indices_[at(axis)] = 0;
      source_ -= size * source_step;
      result_ -= size * result_step;
    }
  }

  Index index(Index axis) const { return indices_[at(axis)]; }
  // Where the position lies.
  Index source() const { return source_; }
  Index result() const { return result_; }

 private:
  const Loop& loop_;
  Order indices_{};
  Index source_ = 0;
  Index result_ = 0;
};

// The innermost axis stays innermost: whole runs are copied.
template <class T>
void permute_runs(const T* from, Loop loop, const Gradient<T>& to) {
  const Index length = loop.remove(loop.rank - 1).size;
  parallel_for(loop.positions(), grain_of(length), [&](Index begin, Index end) {
    Walk walk(loop, begin);
    for (Index run = begin; run < end; ++run, walk.next())
      accumulate(to, run * length, (run + 1) * length,
                 array(from, walk.source(), walk.source() + length));
  });
}

// A matrix's rows lie this far apart.
using RowStep = Eigen::OuterStride<>;
template <class T, int rows, int columns>
using Matrix = Eigen::Matrix<T, rows, columns, Eigen::RowMajor>;

// Writes or adds the transpose of `source` at `first`, its rows `step` apart.
template <class T, class Source>
void put_transposed(const Source& source, const Gradient<T>& to, Index first, Index step) {
  using Transposed = Matrix<T, Source::ColsAtCompileTime, Source::RowsAtCompileTime>;
  Eigen::Map<Transposed, 0, RowStep> result(to.data() + first, source.cols(), source.rows(),
                                            RowStep(step));
  if (to.fresh)
    result = source.transpose();
  else
    result += source.transpose();
}

// The same for a source of any size in memory, its rows `source_step` apart. Most of it goes in
// squares that fit into registers.
template <class T>
void transpose_block(const T* from, Index source_step, Index rows, Index columns,
                     const Gradient<T>& to, Index first, Index step) {
  constexpr int side = 4;
  const Index square_rows = rows / side * side, square_columns = columns / side * side;
  for (Index column = 0; column < square_columns; column += side)
    for (Index row = 0; row < square_rows; row += side) {
      const Matrix<T, side, side> square = Eigen::Map<const Matrix<T, side, side>, 0, RowStep>(
          from + row * source_step + column, RowStep(source_step));
      put_transposed(square, to, first + column * step + row, step);
    }
  const Eigen::Map<const Matrix<T, Eigen::Dynamic, Eigen::Dynamic>, 0, RowStep> source(
      from, rows, columns, RowStep(source_step));
  put_transposed(source.rightCols(columns - square_columns), to, first + square_columns * step,
                 step);
  put_transposed(source.bottomLeftCorner(rows - square_rows, square_columns), to,
                 first + square_rows, step);
}

// The innermost axis of the source goes elsewhere: it and the result's innermost axis make matrices
// to transpose, one for each position of the other axes.
template <class T>
void permute_matrices(const T* from, Loop loop, const Gradient<T>& to) {
  constexpr Index side = 128;  // of the blocks in which a matrix is transposed
  const Axis row = loop.remove(loop.rank - 1);
  Index position = 0;
  while (loop.axes[at(position)].source_step != 1) ++position;
  const Axis column = loop.remove(position);
  loop.push({(column.size + side - 1) / side, side, side * column.result_step});
  loop.push({(row.size + side - 1) / side, side * row.source_step, side});
  const Index cost = std::min(side, row.size) * std::min(side, column.size);
  parallel_for(loop.positions(), grain_of(cost), [&](Index begin, Index end) {
    Walk walk(loop, begin);
    for (Index i = begin; i < end; ++i, walk.next()) {
      const Index columns = std::min(side, column.size - walk.index(loop.rank - 2) * side);
      const Index rows = std::min(side, row.size - walk.index(loop.rank - 1) * side);
      transpose_block(from + walk.source(), row.source_step, rows, columns, to, walk.result(),
                      column.result_step);
    }
  });
}

// `loop` has at least one axis, and no element is left out.
template <class T>
void permute_elements(const Tensor<T>& from, const Loop& loop, const Gradient<T>& to) {
  if (loop.axes[at(loop.rank - 1)].source_step == 1)
    permute_runs(from.data(), loop, to);
  else
    permute_matrices(from.data(), loop, to);
}

// Forward:  y[i_0, i_1, …] = x at the same indices, each on the axis that it came from.
// Backward: the inverse permutation of dy.
template <class T>
Var<T> permute_in_order(const char* operation, const Var<T>& x, const Order& order) {
  Order sizes{}, inverse{};
  for (Index i = 0; i < x.rank(); ++i) {
    sizes[at(i)] = x.shape()[order[at(i)]];
    inverse[at(order[at(i)])] = i;
  }
  const Shape shape(std::span<const Index>(sizes.data(), at(x.rank())));
  const Loop loop = permuted_loop(x.shape(), order);
  if (loop.rank <= 1 || x.size() == 0) return reshape(x, shape);

  Tensor<T> y = x.pass().uninitialized(shape);
  permute_elements(x.value(), loop, to_overwrite(y));
  return x.pass().record(
      operation, y, {x.node()}, [x = x.node(), inverse](Pass<T>& backward, const Tensor<T>& dy) {
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
    for (Index axis : axes) list += (list.empty() ? "" : ", ") + std::to_string(axis);
    fail<ShapeError>("permute", concatenate_text("each axis of ", x.shape(), " once"),
                     "(" + list + ")");
  }
  return permute_in_order("permute", x, order);
}

template <class T>
Var<T> transpose(const Var<T>& x, Index axis1, Index axis2) {
  Order order{};
  std::iota(order.begin(), order.end(), Index{0});
  std::swap(order[at(x.shape().normalized(axis1, "transpose"))],
            order[at(x.shape().normalized(axis2, "transpose"))]);
  return permute_in_order("transpose", x, order);
}

template Var<float> permute(const Var<float>&, std::span<const Index>);
template Var<double> permute(const Var<double>&, std::span<const Index>);
template Var<float> transpose(const Var<float>&, Index, Index);
template Var<double> transpose(const Var<double>&, Index, Index);

}  // namespace weft
