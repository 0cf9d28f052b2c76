// MatrixView: a view of a matrix in memory.
#pragma once

#include "weft/autograd/shape.hpp"

namespace weft {

// Element (i, j) is data[i · stride + j], or data[j · stride + i] when the buffer holds the
// transposed matrix.
template <class T>
struct MatrixView {
  const T* data;
  Index stride;
  bool transposed = false;

  // The part that starts at row i and column j.
  MatrixView at(Index i, Index j) const {
    return {data + (transposed ? j * stride + i : i * stride + j), stride, transposed};
  }
};

}  // namespace weft
