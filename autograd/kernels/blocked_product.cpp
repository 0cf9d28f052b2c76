#include "autograd/kernels/blocked_product.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "autograd/kernels/vector.hpp"

// c is computed in blocks of a few rows and one or two vectors of columns. The sums of a block stay
// in registers over the loop along k: for each p, the vectors of row p of b are multiplied by one
// element of each row of a. The columns of b for a block, the panel, are packed into contiguous
// memory, unless too few rows would use the copy.

namespace weft {
namespace {

#if defined(__AVX512F__)
constexpr Index max_rows = 12;
#else
constexpr Index max_rows = 6;
#endif
constexpr Index panel_bytes = 3 << 13;  // most of the L1 cache
constexpr Index rows_per_pass = 384;    // of a, kept in the L2 cache
constexpr Index min_rows_to_pack = 24;

// A panel of b, shared by all blocks of its columns.
template <class T>
struct Panel {
  const T* data;
  Index stride;  // from row to row
  Index k;
};

// Calls body(std::integral_constant) for 0 … count - 1. Constant indices keep arrays in registers.
template <Index count, class Body>
void unrolled(const Body& body) {
  [&]<Index... i>(std::integer_sequence<Index, i...>) {
    (body(std::integral_constant<Index, i>()), ...);
  }
  (std::make_integer_sequence<Index, count>());
}

// c = a · panel + beta · c, on whole vectors of c.
template <Index rows, Index vectors, bool transposed, class T>
void block_product(const Panel<T>& panel, const T* a, Index a_stride, T beta, T* c,
                   Index c_stride) {
  Vector<T> sums[rows][vectors];
  unrolled<rows>([&](auto r) { unrolled<vectors>([&](auto v) { sums[r][v] = Vector<T>{}; }); });
  const T* b = panel.data;
  const Index k = panel.k, b_stride = panel.stride;
  for (Index p = 0; p < k; ++p, b += b_stride) {
    Vector<T> b_row[vectors];
    for (Index v = 0; v < vectors; ++v) b_row[v] = load(b + v * lanes<T>);
    for (Index r = 0; r < rows; ++r) {
      const T factor = transposed ? a[p * a_stride + r] : a[r * a_stride + p];
      for (Index v = 0; v < vectors; ++v) sums[r][v] += factor * b_row[v];
    }
  }
  const auto for_each_vector = [&](const auto& body) {
    unrolled<rows>([&](auto r) {
      unrolled<vectors>([&](auto v) { body(sums[r][v], c + r * c_stride + v * lanes<T>); });
    });
  };
  if (beta == T{0})
    for_each_vector([](const Vector<T>& sum, T* to) { store<T>(sum, to); });
  else
    for_each_vector([&](const Vector<T>& sum, T* to) { store<T>(sum + beta * load(to), to); });
}

template <class T>
using BlockProduct = void (*)(const Panel<T>&, const T*, Index, T, T*, Index);

// block_product for 1 … max_rows rows.
template <Index vectors, bool transposed, class T>
constexpr auto block_products = []<Index... r>(std::integer_sequence<Index, r...>) {
  return std::array<BlockProduct<T>, max_rows>{block_product<r + 1, vectors, transposed, T>...};
}
(std::make_integer_sequence<Index, max_rows>{});

template <class T>
BlockProduct<T> block_product_for(Index rows, Index vectors, bool transposed) {
  const auto& products =
      transposed ? (vectors == 1 ? block_products<1, true, T> : block_products<2, true, T>)
                 : (vectors == 1 ? block_products<1, false, T> : block_products<2, false, T>);
  return products[static_cast<std::size_t>(rows - 1)];
}

// Interleaves the first or the last two elements of x and y: x0 y0 x1 y1, or x2 y2 x3 y3.
template <bool last, class Four>
Four interleave(const Four& x, const Four& y) {
  constexpr int i = last ? 2 : 0;
#if __has_builtin(__builtin_shufflevector)
  return __builtin_shufflevector(x, y, i, i + 4, i + 1, i + 5);
#else
  return __builtin_shuffle(x, y, decltype(x < y){i, i + 4, i + 1, i + 5});
#endif
}

// Copies rows 0 … 3 and columns 0 … 3 of alpha · b, where b is transposed in memory. When b has
// fewer columns, repeats the last one.
template <class T>
void copy_transposed_4x4(Index columns, T alpha, const T* b, Index b_stride, T* to,
                         Index to_stride) {
  using Four = Vector<T, 4 * sizeof(T)>;
  Four rows[4];
  for (Index j = 0; j < 4; ++j)
    rows[j] = alpha * load<4 * sizeof(T)>(b + std::min(j, columns - 1) * b_stride);
  // Interleaving twice transposes the block.
  const Four even[] = {interleave<false>(rows[0], rows[2]), interleave<true>(rows[0], rows[2])};
  const Four odd[] = {interleave<false>(rows[1], rows[3]), interleave<true>(rows[1], rows[3])};
  const auto store_column = [&](Index j, const Four& column) {
    store<T, 4 * sizeof(T)>(column, to + j * to_stride);
  };
  for (Index half = 0; half < 2; ++half) {
    store_column(2 * half, interleave<false>(even[half], odd[half]));
    store_column(2 * half + 1, interleave<true>(even[half], odd[half]));
  }
}

// Copies rows 0 … k and columns 0 … columns of alpha · b, where b is transposed in memory, to rows
// of `width` elements. Some of the padding beyond the columns is written too; its products are
// discarded.
template <class T>
void copy_transposed(Index k, Index columns, T alpha, const T* b, Index b_stride, T* panel,
                     Index width) {
  const Index k_whole = k / 4 * 4;
  for (Index j = 0; j < columns; j += 4)
    for (Index p = 0; p < k_whole; p += 4)
      copy_transposed_4x4(columns - j, alpha, b + j * b_stride + p, b_stride, panel + p * width + j,
                          width);
  for (Index j = 0; j < columns; ++j)
    for (Index p = k_whole; p < k; ++p) panel[p * width + j] = alpha * b[j * b_stride + p];
}

// The same for a b that is not transposed.
template <Index vectors, class T>
void copy_rows(Index k, Index columns, T alpha, const T* b, Index b_stride, T* panel) {
  constexpr Index width = vectors * lanes<T>;
  for (Index p = 0; p < k; ++p, b += b_stride, panel += width) {
    if (columns == width)
      for (Index v = 0; v < width; v += lanes<T>) store<T>(alpha * load(b + v), panel + v);
    else
      for (Index j = 0; j < columns; ++j) panel[j] = alpha * b[j];
  }
}

// Computes the columns of c for one panel, in blocks of about the same number of rows.
template <class T>
void panel_product(Index m, Index vectors, const Panel<T>& panel, const MatrixView<T>& a, T beta,
                   T* c, Index c_stride) {
  const Index blocks = (m + max_rows - 1) / max_rows;
  const Index rows = m / blocks, longer = m % blocks;
  const auto product = block_product_for<T>(rows, vectors, a.transposed);
  const auto longer_product =
      longer ? block_product_for<T>(rows + 1, vectors, a.transposed) : product;
  Index i = 0;
  for (Index block = 0; block < blocks; ++block) {
    const bool is_longer = block < longer;
    (is_longer ? longer_product : product)(panel, a.at(i, 0).data, a.stride, beta, c + i * c_stride,
                                           c_stride);
    i += rows + is_longer;
  }
}

// The same when c has fewer columns than the panel: through a temporary block as wide as the panel.
template <class T>
void narrow_panel_product(Index m, Index vectors, Index columns, const Panel<T>& panel,
                          const MatrixView<T>& a, T beta, T* c, Index c_stride) {
  const Index width = vectors * lanes<T>;
  alignas(64) T block[max_rows * 2 * lanes<T>];
  for (Index i = 0; i < m; i += max_rows) {
    const Index rows = std::min(max_rows, m - i);
    block_product_for<T>(rows, vectors, a.transposed)(panel, a.at(i, 0).data, a.stride, T{0}, block,
                                                      width);
    for (Index r = 0; r < rows; ++r) {
      const T* from = block + r * width;
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
  // Static, so that the padding beyond a panel's columns holds values of an earlier panel, or
  // zeros: uninitialized memory might hold denormals, which are slow.
  alignas(64) static thread_local T packed[panel_bytes / static_cast<Index>(sizeof(T))];
  for (Index i = 0; i < m; i += rows_per_pass) {
    const Index rows = std::min(rows_per_pass, m - i);
    // At least once, so that beta is applied when k is 0.
    for (Index p = 0; p == 0 || p < k; p += max_k) {
      const Index depth = std::min(max_k, k - p);
      Index width;
      for (Index j = 0; j < n; j += width) {
        const Index vectors = n - j > lanes<T> ? 2 : 1;
        width = vectors * lanes<T>;
        const Index columns = std::min(width, n - j);
        const T* const b_part = b.at(p, j).data;
        Panel<T> panel{b_part, b.stride, depth};
        if (b.transposed || columns < width || rows >= min_rows_to_pack || alpha != T{1}) {
          if (b.transposed)
            copy_transposed(depth, columns, alpha, b_part, b.stride, packed, width);
          else
            (vectors == 1 ? copy_rows<1, T> : copy_rows<2, T>)(depth, columns, alpha, b_part,
                                                               b.stride, packed);
          panel = {packed, width, depth};
        }
        const MatrixView<T> a_part = a.at(i, p);
        const T part_beta = p == 0 ? beta : T{1};
        T* to = c + i * c_stride + j;
        if (columns == width)
          panel_product(rows, vectors, panel, a_part, part_beta, to, c_stride);
        else
          narrow_panel_product(rows, vectors, columns, panel, a_part, part_beta, to, c_stride);
      }
    }
  }
}

template void blocked_product(Index, Index, Index, float, const MatrixView<float>&,
                              const MatrixView<float>&, float, float*, Index);
template void blocked_product(Index, Index, Index, double, const MatrixView<double>&,
                              const MatrixView<double>&, double, double*, Index);

}  // namespace weft
