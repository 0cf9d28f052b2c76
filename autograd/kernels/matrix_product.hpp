// matrix_product: the one way in which weft multiplies matrices.
#pragma once

#include <algorithm>

#include "weft/autograd/parallel.hpp"
#include "autograd/kernels/matrix_view.hpp"

namespace weft {

// c = alpha · a · b + beta · c for a [m, k], b [k, n] and c [m, n] with rows c_stride apart. With
// beta = 0 the old c is not read. Runs on the calling thread; the result does not depend on how
// many threads there are. Products that fit into a core's caches are weft's own (blocked_product);
// of larger ones oneDNN computes those in single precision when weft was built with it, and Eigen
// the others.
template <class T>
void matrix_product(Index m, Index n, Index k, T alpha, const MatrixView<T>& a,
                    const MatrixView<T>& b, T beta, T* c, Index c_stride);

// How the result [m, n] of a product is cut for several threads. The cut, and with it the bits of
// the result, depends on the sizes alone, but for tiles that are weft's own to multiply: these
// give the same bits however they are cut, and a thread that runs alone takes as large ones as it
// can.
struct Tiles {
  Index rows, columns;  // of the whole result
  Index tile_rows, tile_columns;

  Tiles(Index m, Index n, Index k);
  Index across() const { return (columns + tile_columns - 1) / tile_columns; }
  Index count() const { return (rows + tile_rows - 1) / tile_rows * across(); }

 private:
  void cut(Index wanted);
};

// Calls body(row_begin, row_end, column_begin, column_end) for every tile, in parallel.
template <class Body>
void for_each_tile(const Tiles& tiles, const Body& body) {
  parallel_for(tiles.count(), 1, [&](Index begin, Index end) {
    for (Index tile = begin; tile < end; ++tile) {
      const Index row = tile / tiles.across() * tiles.tile_rows;
      const Index column = tile % tiles.across() * tiles.tile_columns;
      body(row, std::min(row + tiles.tile_rows, tiles.rows), column,
           std::min(column + tiles.tile_columns, tiles.columns));
    }
  });
}

// matrix_product with its tiles spread over the threads.
template <class T>
void parallel_matrix_product(Index m, Index n, Index k, T alpha, const MatrixView<T>& a,
                             const MatrixView<T>& b, T beta, T* c, Index c_stride) {
  for_each_tile(Tiles(m, n, k), [&](Index i0, Index i1, Index j0, Index j1) {
    matrix_product(i1 - i0, j1 - j0, k, alpha, a.at(i0, 0), b.at(0, j0), beta,
                   c + i0 * c_stride + j0, c_stride);
  });
}

// The name of the library that computes large single-precision products: "oneDNN" or "Eigen".
const char* matrix_product_library();

}  // namespace weft
