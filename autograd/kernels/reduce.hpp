// fold and spread: from many elements to one result, and from one result to many elements.
// Included by definitions only, never by another header of weft.
#pragma once

#include "autograd/kernels/arrays.hpp"

namespace weft {

// The most contiguous elements that are folded into one in one go.
constexpr Index longest_run = 512;

// A tensor seen as [outer, reduced, inner]. A reduction takes the middle axis away and has
// outer · inner results.
struct Blocks {
  Index outer = 1;
  Index reduced = 1;
  Index inner = 1;

  // How many positions of the middle axis are folded in one go: few enough for float sums to stay
  // accurate. Their results are folded again.
  Index part_rows() const { return inner == 1 ? longest_run : 64; }
  Index parts() const { return (reduced + part_rows() - 1) / part_rows(); }
};

// Rows (positions of the middle axis) and columns of one outer position.
struct Piece {
  Index outer;
  Index part;
  Index first_row, last_row;
  Index first_column, last_column;
};

// Calls `body` on pieces that together are all of the blocks.
template <class Body>
void for_each_piece(const Blocks& blocks, const Body& body) {
  constexpr Index columns = 1024;
  const Index rows = blocks.part_rows(), parts = blocks.parts();
  const Index strips = (blocks.inner + columns - 1) / columns;
  const Index cost = std::min(rows, blocks.reduced) * std::min(columns, blocks.inner);
  parallel_for(blocks.outer * parts * strips, grain_of(cost + 8), [&](Index begin, Index end) {
    Index outer = begin / strips / parts, part = begin / strips % parts, strip = begin % strips;
    for (Index i = begin; i < end; ++i) {
      body(Piece{outer, part, part * rows, std::min((part + 1) * rows, blocks.reduced),
                 strip * columns, std::min((strip + 1) * columns, blocks.inner)});
      if (++strip < strips) continue;
      strip = 0;
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
  static T join(T a, T b) {
    return a + b;
  }
};

// NaN wins, as in torch.amax.
struct Max {
  template <class Values>
  static auto of(const Values& values) {
    return values.template maxCoeff<Eigen::PropagateNaN>();
  }
  template <class T>
  static T join(T a, T b) {
    return a >= b || a != a ? a : b;
  }
};

// The term that is the element itself.
template <class T>
struct Elements {
  const T* data;
  T operator()(Index element, Index /*result*/) const { return data[element]; }
};

// The results, [outer · inner], of Sum or Max over `term(element, result)` of each element, where
// `result` is the one that the element belongs to. The order of the additions depends on the blocks
// only.
template <class Reduction, class T, class Term>
Tensor<T> reduce(const Pass<T>& pass, const Blocks& blocks, const Term& term) {
  const Index reduced = blocks.reduced, inner = blocks.inner, parts = blocks.parts();
  if (reduced == 0) return pass.zeros({blocks.outer * inner});
  Tensor<T> results = pass.uninitialized({blocks.outer * parts * inner});
  for_each_piece(blocks, [&](const Piece& piece) {
    T* to = results.data() + (piece.outer * parts + piece.part) * inner;
    const Index first = piece.outer * reduced + piece.first_row;
    if (inner == 1) {
      alignas(64) T terms[longest_run];
      const Index count = piece.last_row - piece.first_row;
#pragma omp simd
      for (Index i = 0; i < count; ++i) terms[i] = term(first + i, piece.outer);
      *to = Reduction::of(array(&terms[0], 0, count));
      return;
    }
    const Index result = piece.outer * inner;
#pragma omp simd
    for (Index column = piece.first_column; column < piece.last_column; ++column)
      to[column] = term(first * inner + column, result + column);
    for (Index row = 1; row < piece.last_row - piece.first_row; ++row)
#pragma omp simd
      for (Index column = piece.first_column; column < piece.last_column; ++column) {
        const T value = term((first + row) * inner + column, result + column);
        to[column] = Reduction::join(to[column], value);
      }
  });
  if (parts == 1) return results;
  return reduce<Reduction>(pass, {blocks.outer, parts, inner}, Elements<T>{results.data()});
}

// Adds `term(element, result)` to the gradient of each element.
template <class T, class Term>
void add_broadcast(const Gradient<T>& dx, const Blocks& blocks, const Term& term) {
  const auto add = [&](Index begin, Index end, Index result, Index result_step) {
    T* to = dx.data();
    if (dx.fresh)
#pragma omp simd
      for (Index i = begin; i < end; ++i) to[i] = term(i, result + (i - begin) * result_step);
    else
#pragma omp simd
      for (Index i = begin; i < end; ++i) to[i] += term(i, result + (i - begin) * result_step);
  };
  for_each_piece(blocks, [&](const Piece& piece) {
    const Index first = piece.outer * blocks.reduced;
    if (blocks.inner == 1) {
      add(first + piece.first_row, first + piece.last_row, piece.outer, 0);
      return;
    }
    for (Index row = first + piece.first_row; row < first + piece.last_row; ++row)
      add(row * blocks.inner + piece.first_column, row * blocks.inner + piece.last_column,
          piece.outer * blocks.inner + piece.first_column, 1);
  });
}

}  // namespace weft
