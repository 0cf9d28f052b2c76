// MatrixView: a view of a matrix in memory.
#pragma once

#include "weft/autograd/shape.hpp"

namespace weft {

// A matrix whose element (i, j) is data[i · stride + j], or data[j · stride + i] if the buffer
// contains the transposed matrix.
template <class T>
struct MatrixView {
  const T* data;
  Index stride;
  bool transposed = false;

  // Returns the part that starts at row i and column j.
  MatrixView at(Index i, Index j) const {
    return {data + (transposed ? j * stride + i : i * stride + j), stride, transposed};
  }
};

}  // namespace weft
