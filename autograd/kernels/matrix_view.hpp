// MatrixView: a view of a matrix in memory.
#pragma once

#include <cstdint>

#include "weft/autograd/tensor.hpp"

namespace weft {

// A matrix whose element (i, j) is data[i · stride + j], or data[j · stride + i] if the buffer
// contains the transposed matrix.
template <class T>
struct MatrixView {
  const T* data;  // null if there are only bf16 numbers
  Index stride;
  bool transposed = false;
  const std::uint16_t* bf16 = nullptr;  // the elements, if they are bf16 numbers
  const Tensor<T>* tensor = nullptr;    // the elements, if `rounded` is to keep them in bf16

  MatrixView transpose() const { return {data, stride, !transposed, bf16, tensor}; }
  // Returns the part that starts at row i and column j.
  MatrixView at(Index i, Index j) const {
    const Index offset = transposed ? j * stride + i : i * stride + j;
    return {data ? data + offset : nullptr, stride, transposed, bf16 ? bf16 + offset : nullptr};
  }
};

}  // namespace weft
