// bf16_product: products of matrices whose elements are rounded to bf16.
// Included by definitions only.
#pragma once

#include "weft/autograd/buffer.hpp"
#include "autograd/kernels/matrix_view.hpp"

namespace weft {

// Computes c = alpha · a · b + beta · c like matrix_product, but with the elements of a and b
// rounded to bf16 and their products added in single precision. The bits of an element depend only
// on its row of a, its column of b and the processor.
void bf16_product(Index m, Index n, Index k, float alpha, const MatrixView<float>& a,
                  const MatrixView<float>& b, float beta, float* c, Index c_stride);

// The second matrix of a product that is computed in several tiles. If it is not too large, it is
// rounded once for all tiles, in parallel. `b` must outlive it.
class SharedBf16Matrix {
 public:
  // The first column of each tile is a multiple of this.
  static constexpr Index column_multiple = 32;

  // Returns whether a matrix [k, n] is rounded once for all tiles.
  static bool is_shared(Index n, Index k);

  // Prepares b [k, n].
  SharedBf16Matrix(Index n, Index k, const MatrixView<float>& b);

  // Computes c = alpha · a · b + beta · c for a [m, k] and n columns of b, starting with column
  // `first`.
  void product(Index m, Index n, float alpha, const MatrixView<float>& a, Index first, float beta,
               float* c, Index c_stride) const;

 private:
  MatrixView<float> b_;
  Index columns_, k_;
  Buffer packed_;  // empty unless the matrix is shared
};

}  // namespace weft
