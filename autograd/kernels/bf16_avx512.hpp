// The bf16 product for processors with AVX512-BF16.
// Included by definitions only.
#pragma once

#include "autograd/kernels/matrix_view.hpp"

namespace weft::avx512 {

// Computes weft::bf16_product in `workspace_bytes()` bytes of memory, aligned to 64 bytes. The
// processor must have AVX512-BF16.
void bf16_product(Index m, Index n, Index k, float alpha, const MatrixView<float>& a,
                  const MatrixView<float>& b, float beta, float* c, Index c_stride,
                  void* workspace);

// Computes weft::bf16_product with columns first, first + 1, … of a packed matrix that has
// `packed_columns` columns. `first` is a multiple of 32.
void bf16_product(Index m, Index n, Index k, float alpha, const MatrixView<float>& a,
                  const void* packed, Index packed_columns, Index first, float beta, float* c,
                  Index c_stride, void* workspace);

// The size of the workspace, a multiple of 64.
Index workspace_bytes();

// Returns the size in bytes of a packed matrix [k, n].
Index packed_bytes(Index n, Index k);
// Packs one of the packed_parts(n, k) parts of b [k, n], which are about equally large. `packed` is
// aligned to 64 bytes.
Index packed_parts(Index n, Index k);
void pack(Index n, Index k, const MatrixView<float>& b, Index part, void* packed);

}  // namespace weft::avx512
