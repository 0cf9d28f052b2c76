// matrix_product: computes all of weft's matrix products, except those with few rows (row_product).
#pragma once

#include <algorithm>
#include <type_traits>

#include "weft/autograd/parallel.hpp"
#include "weft/autograd/precision.hpp"
#include "autograd/kernels/bf16_product.hpp"
#include "autograd/kernels/matrix_view.hpp"

namespace weft {

// Computes c = alpha · a · b + beta · c for a [m, k], b [k, n] and c [m, n] with row stride
// c_stride. If beta is 0, the old c is not read. Runs on the calling thread; the result does not
// depend on the number of threads. Precision::bf16, for float only, uses bf16_product. In full
// precision, products that fit into a core's caches use blocked_product. Larger products use oneDNN
// for single precision, if weft was built with it, and otherwise Eigen.
template <class T>
void matrix_product(Precision precision, Index m, Index n, Index k, T alpha, const MatrixView<T>& a,
                    const MatrixView<T>& b, T beta, T* c, Index c_stride);

// Computes matrix_product with the library, oneDNN or Eigen.
template <class T>
void library_product(Index m, Index n, Index k, T alpha, const MatrixView<T>& a,
                     const MatrixView<T>& b, T beta, T* c, Index c_stride);

// The tiling of the result [m, n] of a product for several threads. The tiling, and with it the
// bits of the result, depends only on the sizes. The exception are tiles that use blocked_product
// or bf16_product: their bits are the same for any tiling, and with a single thread, the tiles are
// as large as possible.
struct Tiles {
  Index rows, columns;  // size of the whole result
  Index tile_rows, tile_columns;

  Tiles(Precision precision, Index m, Index n, Index k);
  Index tiles_per_row() const { return (columns + tile_columns - 1) / tile_columns; }
  Index count() const { return (rows + tile_rows - 1) / tile_rows * tiles_per_row(); }

 private:
  void choose_tiles(Index target, Index row_cost);
};

// Calls body(row_begin, row_end, column_begin, column_end) for every tile, in parallel.
template <class Body>
void for_each_tile(const Tiles& tiles, const Body& body) {
  parallel_for(tiles.count(), 1, [&](Index begin, Index end) {
    for (Index tile = begin; tile < end; ++tile) {
      const Index row = tile / tiles.tiles_per_row() * tiles.tile_rows;
      const Index column = tile % tiles.tiles_per_row() * tiles.tile_columns;
      body(row, std::min(row + tiles.tile_rows, tiles.rows), column,
           std::min(column + tiles.tile_columns, tiles.columns));
    }
  });
}

// Computes matrix_product with its tiles distributed over threads. Calls finish(row_begin, row_end,
// column_begin, column_end) for each computed tile, on the thread that has it in its caches.
template <class T, class Finish>
void parallel_matrix_product(Precision precision, Index m, Index n, Index k, T alpha,
                             const MatrixView<T>& a, const MatrixView<T>& b, T beta, T* c,
                             Index c_stride, const Finish& finish) {
  const Tiles tiles(precision, m, n, k);
  // product(rows, columns, a, first column of b, c)
  const auto compute = [&](const auto& product) {
    for_each_tile(tiles, [&](Index i0, Index i1, Index j0, Index j1) {
      product(i1 - i0, j1 - j0, a.at(i0, 0), j0, c + i0 * c_stride + j0);
      finish(i0, i1, j0, j1);
    });
  };
  if constexpr (std::is_same_v<T, float>)
    if (precision == Precision::bf16 && tiles.rows > tiles.tile_rows) {
      const SharedBf16Matrix shared(n, k, b);
      return compute([&](Index rows, Index columns, const MatrixView<T>& part, Index j, T* to) {
        shared.product(rows, columns, alpha, part, j, beta, to, c_stride);
      });
    }
  compute([&](Index rows, Index columns, const MatrixView<T>& part, Index j, T* to) {
    matrix_product(precision, rows, columns, k, alpha, part, b.at(0, j), beta, to, c_stride);
  });
}
template <class T>
void parallel_matrix_product(Precision precision, Index m, Index n, Index k, T alpha,
                             const MatrixView<T>& a, const MatrixView<T>& b, T beta, T* c,
                             Index c_stride) {
  parallel_matrix_product(precision, m, n, k, alpha, a, b, beta, c, c_stride,
                          [](Index, Index, Index, Index) {});
}

// Returns the name of the library that computes large single-precision products: "oneDNN" or
// "Eigen".
const char* matrix_product_library();

}  // namespace weft
