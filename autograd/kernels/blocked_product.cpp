#include "autograd/kernels/blocked_product.hpp"

#include <algorithm>

#include "autograd/kernels/panel_product.hpp"
#include "autograd/kernels/transposed_copy.hpp"

// c is computed in panels of one or two vectors of columns. The columns of b for some panels are
// packed, so that each panel is contiguous, unless too few rows would use the copy.

namespace weft {
namespace {

constexpr Index panel_bytes = 3 << 13;  // most of the L1 cache
constexpr Index packed_panels = 8;      // several, to read rows of b as far as possible
constexpr Index rows_per_pass = 384;    // of a, kept in the L2 cache
constexpr Index min_rows_to_pack = 24;

// The width of the panel for the first of n columns.
template <class T>
Index width_for(Index n) {
  return n > lanes<T> ? 2 * lanes<T> : lanes<T>;
}

// Copies `count` elements of alpha · from, where `count` is often a number of whole vectors.
template <class T>
void copy_row(Index count, T alpha, const T* from, T* to) {
  if (count % lanes<T> == 0)
    for (Index j = 0; j < count; j += lanes<T>) store<T>(alpha * load(from + j), to + j);
  else
    for (Index j = 0; j < count; ++j) to[j] = alpha * from[j];
}

// Copies alpha · b [k, n] in panels, each [k, width] and after the one before it. Some of the
// padding of the last panel is written, too.
template <class T>
void pack(Index k, Index n, T alpha, const MatrixView<T>& b, T* packed) {
  Index width;
  if (b.transposed) {
    for (Index j = 0; j < n; j += width) {
      width = width_for<T>(n - j);
      copy_transposed(k, std::min(width, n - j), alpha, b.at(0, j).data, b.stride, packed + j * k,
                      width);
    }
    return;
  }
  for (Index p = 0; p < k; ++p) {
    const T* const row = b.at(p, 0).data;
    for (Index j = 0; j < n; j += width) {
      width = width_for<T>(n - j);
      copy_row(std::min(width, n - j), alpha, row + j, packed + j * k + p * width);
    }
  }
}

// panel_product when c has fewer columns than the panel: through a temporary block as wide as the
// panel.
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
  constexpr Index max_n = packed_panels * 2 * lanes<T>;
  // Static, so that the padding beyond a panel's columns holds values of an earlier panel, or
  // zeros: uninitialized memory might hold denormals, which are slow.
  alignas(64) static thread_local T packed[max_k * max_n];
  const auto product_of_part = [&](Index rows, Index columns, Index depth,
                                   const MatrixView<T>& a_part, const MatrixView<T>& b_part,
                                   T part_beta, T* to) {
    const bool packs =
        b.transposed || columns % lanes<T> != 0 || rows >= min_rows_to_pack || alpha != T{1};
    if (packs) pack(depth, columns, alpha, b_part, packed);
    Index width;
    for (Index j = 0; j < columns; j += width) {
      width = width_for<T>(columns - j);
      const Panel<T> panel = packs ? Panel<T>{packed + j * depth, width, depth, width}
                                   : Panel<T>{b_part.at(0, j).data, b.stride, depth, width};
      if (columns - j >= width)
        panel_product(rows, panel, a_part, part_beta, to + j, c_stride);
      else
        narrow_panel_product(rows, columns - j, panel, a_part, part_beta, to + j, c_stride);
    }
  };
  for (Index i = 0; i < m; i += rows_per_pass)
    // At least once, so that beta is applied when k is 0.
    for (Index p = 0; p == 0 || p < k; p += max_k)
      for (Index j = 0; j < n; j += max_n)
        product_of_part(std::min(rows_per_pass, m - i), std::min(max_n, n - j),
                        std::min(max_k, k - p), a.at(i, p), b.at(p, j), p == 0 ? beta : T{1},
                        c + i * c_stride + j);
}

template void blocked_product(Index, Index, Index, float, const MatrixView<float>&,
                              const MatrixView<float>&, float, float*, Index);
template void blocked_product(Index, Index, Index, double, const MatrixView<double>&,
                              const MatrixView<double>&, double, double*, Index);

}  // namespace weft
