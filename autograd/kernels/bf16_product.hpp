// Bf16Product: a product of matrices whose elements are rounded to bf16.
// Included by definitions only.
#pragma once

#include "weft/autograd/buffer.hpp"
#include "autograd/kernels/matrix_view.hpp"

namespace weft {

// Returns whether a product in bf16 is faster than in single precision: if the processor and the
// library have instructions for it, and the product is large enough. Depends only on the sizes and
// the machine.
bool prefers_bf16_product(Index m, Index n, Index k);

// Computes c = alpha · a · b + beta · c for a [m, k] and b [k, n], tile by tile. The elements of a
// and b are rounded to bf16 and their products are added in single precision. The bits of an
// element depend on the sizes of its tile.
class Bf16Product {
 public:
  // Prepares a product with tiles of this size, which are smaller at the ends. Rounds matrices that
  // are not too large at once, in parallel; the tiles round parts of larger ones. a and b must
  // outlive the product.
  Bf16Product(Index m, Index n, Index k, float alpha, const MatrixView<float>& a,
              const MatrixView<float>& b, float beta, Index tile_rows, Index tile_columns);

  // Computes the tile of rows [i0, i1) and columns [j0, j1); c is its first element. The tiles may
  // be computed on several threads at the same time.
  void compute(Index i0, Index i1, Index j0, Index j1, float* c, Index c_stride) const;

 private:
  // A matrix [rows, k] that is read in blocks of rows.
  class Operand {
   public:
    // Converts the matrix in blocks of `block_rows` rows, unless it is large or has bf16 numbers.
    // The copy is in the memory of the thread with this number.
    Operand(Index rows, Index k, const MatrixView<float>& matrix, Index block_rows, int memory);

    // Returns the elements of rows [begin, end), which are a block, in contiguous memory: [rows, k]
    // or, if the matrix is transposed, [k, rows]. May copy them to the memory with this number.
    const std::uint16_t* block(Index begin, Index end, int memory) const;
    bool transposed() const { return matrix_.transposed; }

   private:
    Index k_;
    MatrixView<float> matrix_;
    Buffer converted_;  // one block after the other; empty if the matrix was not converted
  };

  Index k_;
  float alpha_, beta_;
  Operand a_, b_;  // b_ is bᵀ
};

}  // namespace weft
