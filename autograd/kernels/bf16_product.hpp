// bf16_product: products of matrices whose elements are rounded to bf16.
// Included by definitions only.
#pragma once

#include "autograd/kernels/matrix_view.hpp"

namespace weft {

// c = alpha · a · b + beta · c, as matrix_product, with the elements of a and b rounded to bf16 and
// their products added in single precision. The bits of an element depend on its row of a, its
// column of b and the processor only.
void bf16_product(Index m, Index n, Index k, float alpha, const MatrixView<float>& a,
                  const MatrixView<float>& b, float beta, float* c, Index c_stride);

// The second matrix of a product that is computed in several tiles: rounded once for all of them,
// in parallel, if it is not too large. Uses memory of the calling thread, which may have one such
// matrix at a time; `b` must outlive it.
class SharedBf16Matrix {
 public:
  // The tiles' columns begin at multiples of this.
  static constexpr Index column_multiple = 32;

  // Whether a matrix [k, n] is rounded once for all tiles.
  static bool is_shared(Index n, Index k);

  // b [k, n].
  SharedBf16Matrix(Index n, Index k, const MatrixView<float>& b);

  // c = alpha · a · b + beta · c for a [m, k] and n columns of b from `first` on.
  void product(Index m, Index n, float alpha, const MatrixView<float>& a, Index first, float beta,
               float* c, Index c_stride) const;

 private:
  MatrixView<float> b_;
  Index columns_, k_;
  const void* packed_ = nullptr;
};

}  // namespace weft
