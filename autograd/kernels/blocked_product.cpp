#include "autograd/kernels/blocked_product.hpp"

#include <algorithm>

#include "autograd/kernels/panel_product.hpp"
#include "autograd/kernels/transposed_copy.hpp"

// c is computed in panels of one or two vectors of columns. The columns of b for a panel are packed
// into contiguous memory, unless the rows of b are close together or too few rows of a would use
// the copy. The part of b for the next panel is prefetched meanwhile: b is often in main memory,
// from which the processor reads parts of rows slowly.

namespace weft {
namespace {

constexpr Index panel_bytes = 3 << 13;  // most of the L1 cache
constexpr Index rows_per_pass = 384;    // rows of a, kept in the L2 cache
constexpr Index min_rows_to_pack = 24;
constexpr Index min_bytes_to_pack = 2049;  // row stride from which rows share few cache sets

// Copies rows [0, k) and columns [0, columns) of alpha · b to rows of `width` elements, one or two
// vectors. Part of the padding beyond the columns is written, too.
template <class T>
void pack(Index k, Index columns, T alpha, const MatrixView<T>& b, T* panel, Index width) {
  if (b.transposed) return copy_transposed(k, columns, alpha, b.data, b.stride, panel, width);
  for (Index p = 0; p < k; ++p, panel += width) {
    const T* const row = b.at(p, 0).data;
    if (columns == width)
      for (Index j = 0; j < width; j += lanes<T>) store<T>(alpha * load(row + j), panel + j);
    else
      for (Index j = 0; j < columns; ++j) panel[j] = alpha * row[j];
  }
}

// Returns rows [0, k) and columns [0, columns) of b, to be prefetched.
template <class T>
Prefetch prefetch_of(const MatrixView<T>& b, Index k, Index columns) {
  constexpr Index size = sizeof(T);
  return {b.data, b.stride * size, b.transposed ? columns : k, (b.transposed ? k : columns) * size};
}

// Computes panel_product for c with fewer columns than the panel, using a temporary block as wide
// as the panel.
template <class T>
void narrow_panel_product(Index m, Index columns, const Panel<T>& panel, const MatrixView<T>& a,
                          T beta, T* c, Index c_stride) {
  constexpr Index max_rows = panel_product_rows;
  alignas(64) T block[max_rows * 2 * lanes<T>];
  for (Index i = 0; i < m; i += max_rows) {
    const Index rows = std::min(max_rows, m - i);
    panel_product(rows, panel, a.at(i, 0), T{0}, block, panel.width);
    for (Index r = 0; r < rows; ++r) {
      const T* from = block + r * panel.width;
      T* to = c + (i + r) * c_stride;
      if (beta == T{0})
        for (Index j = 0; j < columns; ++j) to[j] = from[j];
      else
        for (Index j = 0; j < columns; ++j) to[j] = from[j] + beta * to[j];
    }
  }
}

}  // namespace

bool prefers_blocked_product(Index m, Index n, Index k) {
  return m * n * k <= (vector_bytes > 16 ? 1 << 22 : 1 << 16);
}

template <class T>
void blocked_product(Index m, Index n, Index k, T alpha, const MatrixView<T>& a,
                     const MatrixView<T>& b, T beta, T* c, Index c_stride) {
  constexpr Index max_k = panel_bytes / (2 * vector_bytes);
  alignas(64) T packed[panel_bytes / static_cast<Index>(sizeof(T))];
  for (Index i = 0; i < m; i += rows_per_pass) {
    const Index rows = std::min(rows_per_pass, m - i);
    const bool is_worth_packing =
        rows >= min_rows_to_pack && b.stride * static_cast<Index>(sizeof(T)) >= min_bytes_to_pack;
    // At least one iteration, so that beta is applied if k is 0.
    for (Index p = 0; p == 0 || p < k; p += max_k) {
      const Index depth = std::min(max_k, k - p);
      Index width;
      for (Index j = 0; j < n; j += width) {
        width = n - j > lanes<T> ? 2 * lanes<T> : lanes<T>;
        const Index columns = std::min(width, n - j);
        const MatrixView<T> b_part = b.at(p, j);
        Panel<T> panel{b_part.data, b.stride, depth, width};
        if (b.transposed || columns < width || is_worth_packing || alpha != T{1}) {
          // Values beyond the columns must not be denormals, which are slow.
          if (columns < width)
            for (Index end = width; end <= depth * width; end += width)
              store(Vector<T>{}, packed + end - lanes<T>);
          pack(depth, columns, alpha, b_part, packed, width);
          panel = {packed, width, depth, width};
        }
        const MatrixView<T> a_part = a.at(i, p);
        const T part_beta = p == 0 ? beta : T{1};
        T* to = c + i * c_stride + j;
        if (columns < width) {
          narrow_panel_product(rows, columns, panel, a_part, part_beta, to, c_stride);
          continue;
        }
        Prefetch next;
        if (j + width < n)
          next = prefetch_of(b.at(p, j + width), depth, std::min(width, n - j - width));
        else if (p + max_k < k)
          next =
              prefetch_of(b.at(p + max_k, 0), std::min(max_k, k - p - max_k), std::min(width, n));
        panel_product(rows, panel, a_part, part_beta, to, c_stride, next);
      }
    }
  }
}

template void blocked_product(Index, Index, Index, float, const MatrixView<float>&,
                              const MatrixView<float>&, float, float*, Index);
template void blocked_product(Index, Index, Index, double, const MatrixView<double>&,
                              const MatrixView<double>&, double, double*, Index);

}  // namespace weft
