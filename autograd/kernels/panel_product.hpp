// panel_product: products with a few columns that stay in the L1 cache.
// Included by definitions only.
#pragma once

#include "autograd/kernels/matrix_view.hpp"
#include "autograd/kernels/vector.hpp"

namespace weft {

// `width` columns of a matrix, which fill two vectors, one vector, or a half or quarter of a vector
// of at least 16 bytes.
template <class T>
struct Panel {
  const T* data;
  Index stride;  // distance from row to row
  Index k;       // the number of rows
  Index width;
};

// Returns the largest panel width that is at most n, or 0 if n is smaller than all of them.
template <class T>
constexpr Index panel_width(Index n) {
  for (Index width = 2 * lanes<T>; width >= lanes<T, 16>; width /= 2)
    if (width <= n) return width;
  return 0;
}

// The largest number of rows that are computed at a time.
#if defined(__AVX512F__)
inline constexpr Index panel_product_rows = 12;
#else
inline constexpr Index panel_product_rows = 6;
#endif

// Memory that will soon be read: rows of `row_bytes` bytes, `stride` bytes apart.
struct Prefetch {
  const void* data = nullptr;
  Index stride = 0, rows = 0, row_bytes = 0;

  // Begins to prefetch one of `parts` parts into the L2 cache.
  void begin(Index part, Index parts) const {
    constexpr Index line = 64;
    if (rows == 0) return;
    const Index end = rows * (part + 1) / parts;
    for (Index row = rows * part / parts; row < end; ++row)
      for (Index at = 0; at < row_bytes; at += line)
        __builtin_prefetch(static_cast<const char*>(data) + row * stride + at, 0, 2);
  }
};

// Computes c = a · panel + beta · c for a [m, k] and c [m, width] with row stride c_stride. If beta
// is 0, the old c is not read. The bits of an element depend neither on the other rows nor on the
// width. Prefetches `next` meanwhile.
template <class T>
void panel_product(Index m, const Panel<T>& panel, const MatrixView<T>& a, T beta, T* c,
                   Index c_stride, const Prefetch& next = {});

}  // namespace weft
