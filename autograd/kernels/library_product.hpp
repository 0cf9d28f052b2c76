// library_product: products of large matrices by oneDNN or Eigen.
// Included by definitions only.
#pragma once

#include <cstdint>

#include "autograd/kernels/matrix_view.hpp"

namespace weft {

// Computes c = alpha · a · b + beta · c like matrix_product, with oneDNN for single precision, if
// weft was built with it, and otherwise with Eigen.
template <class T>
void library_product(Index m, Index n, Index k, T alpha, const MatrixView<T>& a,
                     const MatrixView<T>& b, T beta, T* c, Index c_stride);

// A matrix in contiguous memory: [rows, columns] or, if transposed, [columns, rows].
template <class Element>
struct DenseMatrix {
  const Element* data;
  bool transposed;
};

// Computes c = a · b, or c = c + a · b if `is_added`, for a [m, k], b [k, n], a contiguous c [m, n]
// and k > 0. The elements of a and b are floats or, if has_bf16_product(), bf16 numbers; sums are
// computed in single precision. The bits of an element depend on the sizes, the matrices and the
// processor.
template <class Element>
void dense_product(Index m, Index n, Index k, const DenseMatrix<Element>& a,
                   const DenseMatrix<Element>& b, bool is_added, float* c);

// Returns whether dense_product multiplies bf16 numbers with the processor's instructions for them:
// AMX or AVX512-BF16.
bool has_bf16_product();

// Returns the name of the library that computes large single-precision products: "oneDNN" or
// "Eigen".
const char* matrix_product_library();

}  // namespace weft
