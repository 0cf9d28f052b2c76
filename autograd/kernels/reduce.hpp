// reduce and add_broadcast: reductions over an axis, and their gradients.
// Included by definitions only, never by another header of weft.
#pragma once

#include "autograd/kernels/arrays.hpp"

namespace weft {

// The maximum number of contiguous elements reduced at a time.
inline constexpr Index max_run = 512;

// A tensor viewed as [outer, reduced, inner]. A reduction removes the middle axis and has
// outer · inner results.
struct ReductionLayout {
  Index outer = 1;
  Index reduced = 1;
  Index inner = 1;

  // The number of positions of the middle axis reduced at a time, small enough for float sums to
  // stay accurate. The partial results are reduced again.
  Index tile_rows() const { return inner == 1 ? max_run : 64; }
  Index parts() const { return (reduced + tile_rows() - 1) / tile_rows(); }
};

// A range of rows (positions of the middle axis) and columns of one outer position.
struct ReductionTile {
  Index outer;
  Index part;
  Index first_row, last_row;
  Index first_column, last_column;
};

// Calls `body` on tiles that cover the tensor, in parallel.
template <class Body>
void for_each_reduction_tile(const ReductionLayout& layout, const Body& body) {
  constexpr Index columns = 1024;
  const Index rows = layout.tile_rows(), parts = layout.parts();
  const Index column_tiles = (layout.inner + columns - 1) / columns;
  const Index cost = std::min(rows, layout.reduced) * std::min(columns, layout.inner);
  parallel_for(
      layout.outer * parts * column_tiles, grain_of(cost + 8), [&](Index begin, Index end) {
        Index outer = begin / column_tiles / parts, part = begin / column_tiles % parts,
              column_tile = begin % column_tiles;
        for (Index i = begin; i < end; ++i) {
          body(ReductionTile{outer, part, part * rows, std::min((part + 1) * rows, layout.reduced),
                             column_tile * columns,
                             std::min((column_tile + 1) * columns, layout.inner)});
          if (++column_tile < column_tiles) continue;
          column_tile = 0;
          if (++part < parts) continue;
          part = 0;
          ++outer;
        }
      });
}

struct Sum {
  template <class Values>
  static auto of(const Values& values) {
    return values.sum();
  }
  template <class T>
  static T combine(T a, T b) {
    return a + b;
  }
};

// NaN propagates, as in torch.amax.
struct Max {
  template <class Values>
  static auto of(const Values& values) {
    return values.template maxCoeff<Eigen::PropagateNaN>();
  }
  template <class T>
  static T combine(T a, T b) {
    return a >= b || a != a ? a : b;
  }
};

// NaN propagates, as in torch.amin.
struct Min {
  template <class Values>
  static auto of(const Values& values) {
    return values.template minCoeff<Eigen::PropagateNaN>();
  }
  template <class T>
  static T combine(T a, T b) {
    return a <= b || a != a ? a : b;
  }
};

// The term that is the element itself.
template <class T>
struct Elements {
  const T* data;
  T operator()(Index element, Index /*result*/) const { return data[element]; }
};

// Returns the Sum, Max or Min of `term(element, result)` over the elements of each result, where
// both arguments are indices. The result is [outer · inner]. The order of the additions depends
// only on the layout.
template <class Reduction, class T, class Term>
Tensor<T> reduce(const Tape<T>& tape, const ReductionLayout& layout, const Term& term) {
  const Index reduced = layout.reduced, inner = layout.inner, parts = layout.parts();
  if (reduced == 0) return tape.zeros({layout.outer * inner});
  Tensor<T> results = tape.uninitialized({layout.outer * parts * inner});
  for_each_reduction_tile(layout, [&](const ReductionTile& tile) {
    T* to = results.data() + (tile.outer * parts + tile.part) * inner;
    const Index first = tile.outer * reduced + tile.first_row;
    if (inner == 1) {
      alignas(64) T terms[max_run];
      const Index count = tile.last_row - tile.first_row;
#pragma omp simd
      for (Index i = 0; i < count; ++i) terms[i] = term(first + i, tile.outer);
      *to = Reduction::of(array(&terms[0], 0, count));
      return;
    }
    const Index result = tile.outer * inner;
#pragma omp simd
    for (Index column = tile.first_column; column < tile.last_column; ++column)
      to[column] = term(first * inner + column, result + column);
    for (Index row = 1; row < tile.last_row - tile.first_row; ++row)
#pragma omp simd
      for (Index column = tile.first_column; column < tile.last_column; ++column) {
        const T value = term((first + row) * inner + column, result + column);
        to[column] = Reduction::combine(to[column], value);
      }
  });
  if (parts == 1) return results;
  return reduce<Reduction>(tape, {layout.outer, parts, inner}, Elements<T>{results.data()});
}

// Adds `term(element, result)` to the gradient of each element.
template <class T, class Term>
void add_broadcast(const Gradient<T>& dx, const ReductionLayout& layout, const Term& term) {
  const auto add = [&](Index begin, Index end, Index result, Index result_step) {
    T* to = dx.data();
    if (dx.fresh)
#pragma omp simd
      for (Index i = begin; i < end; ++i) to[i] = term(i, result + (i - begin) * result_step);
    else
#pragma omp simd
      for (Index i = begin; i < end; ++i) to[i] += term(i, result + (i - begin) * result_step);
  };
  for_each_reduction_tile(layout, [&](const ReductionTile& tile) {
    const Index first = tile.outer * layout.reduced;
    if (layout.inner == 1) {
      add(first + tile.first_row, first + tile.last_row, tile.outer, 0);
      return;
    }
    for (Index row = first + tile.first_row; row < first + tile.last_row; ++row)
      add(row * layout.inner + tile.first_column, row * layout.inner + tile.last_column,
          tile.outer * layout.inner + tile.first_column, 1);
  });
}

}  // namespace weft
