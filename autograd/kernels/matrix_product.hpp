// matrix_product: computes all of weft's matrix products, with the kernel that is fastest for their
// sizes and precision.
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
// depend on the number of threads. With Precision::bf16, for float only, the elements of a and b
// are rounded to bf16 if that is faster.
template <class T>
void matrix_product(Precision precision, Index m, Index n, Index k, T alpha, const MatrixView<T>& a,
                    const MatrixView<T>& b, T beta, T* c, Index c_stride);

enum class ProductKernel {
  rows,     // row_product
  bf16,     // Bf16Product
  general,  // blocked_product, or library_product for large matrices
};

// Returns the kernel that matrix_product uses, which depends only on the arguments and the machine.
template <class T>
ProductKernel product_kernel(Precision precision, Index m, Index n, Index k, const MatrixView<T>& a,
                             const MatrixView<T>& b, T beta);

// Returns a matrix [rows, columns] of bf16 numbers as type T, in memory of the calling thread. The
// next call overwrites it.
template <class T>
MatrixView<T> widened(const MatrixView<T>& matrix, Index rows, Index columns);

// Computes matrix_product with this kernel. `general` does not read bf16 numbers.
template <class T>
void matrix_product_by(ProductKernel kernel, Index m, Index n, Index k, T alpha,
                       const MatrixView<T>& a, const MatrixView<T>& b, T beta, T* c,
                       Index c_stride);

// The tiling of the result [m, n] of a product for several threads. The tiling, and with it the
// bits of the result, depends only on the sizes. The exception are tiles that use blocked_product:
// their bits are the same for any tiling, and with a single thread, they are as large as possible.
struct Tiles {
  Index rows, columns;  // size of the whole result
  Index tile_rows, tile_columns;

  Tiles(ProductKernel kernel, Index m, Index n, Index k);
  Index tiles_per_row() const { return (columns + tile_columns - 1) / tile_columns; }
  Index count() const { return (rows + tile_rows - 1) / tile_rows * tiles_per_row(); }

 private:
  void choose_tiles(Index target, Index copy_cost);
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
  const ProductKernel kernel = product_kernel(precision, m, n, k, a, b, beta);
  if (kernel == ProductKernel::general && !b.data)
    return parallel_matrix_product(precision, m, n, k, alpha, a, widened(b, k, n), beta, c,
                                   c_stride, finish);
  const Tiles tiles(kernel, m, n, k);
  // compute(row_begin, row_end, column_begin, column_end, first element)
  const auto compute_tiles = [&](const auto& compute) {
    for_each_tile(tiles, [&](Index i0, Index i1, Index j0, Index j1) {
      compute(i0, i1, j0, j1, c + i0 * c_stride + j0);
      finish(i0, i1, j0, j1);
    });
  };
  if constexpr (std::is_same_v<T, float>)
    if (kernel == ProductKernel::bf16) {
      const Bf16Product product(m, n, k, alpha, a, b, beta, tiles.tile_rows, tiles.tile_columns);
      return compute_tiles([&](Index i0, Index i1, Index j0, Index j1, T* to) {
        product.compute(i0, i1, j0, j1, to, c_stride);
      });
    }
  compute_tiles([&](Index i0, Index i1, Index j0, Index j1, T* to) {
    matrix_product_by(kernel, i1 - i0, j1 - j0, k, alpha, a.at(i0, 0), b.at(0, j0), beta, to,
                      c_stride);
  });
}
template <class T>
void parallel_matrix_product(Precision precision, Index m, Index n, Index k, T alpha,
                             const MatrixView<T>& a, const MatrixView<T>& b, T beta, T* c,
                             Index c_stride) {
  parallel_matrix_product(precision, m, n, k, alpha, a, b, beta, c, c_stride,
                          [](Index, Index, Index, Index) {});
}

}  // namespace weft
