#include "autograd/kernels/panel_product.hpp"

#include <array>
#include <utility>

// c is computed in blocks of a few rows. The sums of a block stay in registers over the loop along
// k: for each p, the vectors of row p of the panel are multiplied by one element of each row of a.
// Meanwhile, the memory of c is prefetched, because the sums are stored there in the end.

namespace weft {
namespace {

constexpr Index max_rows = panel_product_rows;

// Calls body(std::integral_constant) for [0, count). Constant indices keep arrays in registers.
template <Index count, class Body>
void unrolled(const Body& body) {
  [&]<Index... i>(std::integer_sequence<Index, i...>) {
    (body(std::integral_constant<Index, i>()), ...);
  }
  (std::make_integer_sequence<Index, count>());
}

// Computes panel_product for a block, with vectors of `bytes` bytes.
template <Index rows, Index vectors, Index bytes, bool transposed, class T>
void block_product(const Panel<T>& panel, const T* a, Index a_stride, T beta, T* c,
                   Index c_stride) {
  using Part = Vector<T, bytes>;
  constexpr Index part = lanes<T, bytes>;
  Part sums[rows][vectors];
  unrolled<rows>([&](auto r) { unrolled<vectors>([&](auto v) { sums[r][v] = Part{}; }); });
  const T* b = panel.data;
  const Index k = panel.k, b_stride = panel.stride;
  for (Index p = 0; p < k; ++p, b += b_stride) {
    Part b_row[vectors];
    for (Index v = 0; v < vectors; ++v) b_row[v] = load<bytes>(b + v * part);
    for (Index r = 0; r < rows; ++r) {
      const T factor = transposed ? a[p * a_stride + r] : a[r * a_stride + p];
      for (Index v = 0; v < vectors; ++v) sums[r][v] += factor * b_row[v];
    }
  }
  const auto for_each_part = [&](const auto& body) {
    unrolled<rows>([&](auto r) {
      unrolled<vectors>([&](auto v) { body(sums[r][v], c + r * c_stride + v * part); });
    });
  };
  if (beta == T{0})
    for_each_part([](const Part& sum, T* to) { store<T, bytes>(sum, to); });
  else
    for_each_part(
        [&](const Part& sum, T* to) { store<T, bytes>(sum + beta * load<bytes>(to), to); });
}

// Begins to prefetch a block of c for writing.
template <class T>
void prefetch_block(Index rows, Index width, T* c, Index c_stride) {
  for (Index r = 0; r < rows; ++r)
    for (const Index j : {Index{0}, width - 1}) __builtin_prefetch(c + r * c_stride + j, 1);
}

template <class T>
using BlockProduct = void (*)(const Panel<T>&, const T*, Index, T, T*, Index);
template <class T>
using BlockProducts = std::array<BlockProduct<T>, max_rows>;

// Computes block_product for 1 to max_rows rows.
template <Index vectors, Index bytes, bool transposed, class T>
constexpr auto block_products = []<Index... r>(std::integer_sequence<Index, r...>) {
  return BlockProducts<T>{block_product<r + 1, vectors, bytes, transposed, T>...};
}
(std::make_integer_sequence<Index, max_rows>{});

template <bool transposed, class T, Index bytes = vector_bytes>
const BlockProducts<T>& block_products_for(Index width) {
  if constexpr (bytes == vector_bytes)
    if (width == 2 * lanes<T>) return block_products<2, bytes, transposed, T>;
  if constexpr (bytes > 16)
    if (width < lanes<T, bytes>) return block_products_for<transposed, T, bytes / 2>(width);
  return block_products<1, bytes, transposed, T>;
}

}  // namespace

template <class T>
void panel_product(Index m, const Panel<T>& panel, const MatrixView<T>& a, T beta, T* c,
                   Index c_stride, const Prefetch& next) {
  if (m == 0) return;
  const BlockProducts<T>& products = a.transposed ? block_products_for<true, T>(panel.width)
                                                  : block_products_for<false, T>(panel.width);
  // Blocks have about the same number of rows: the first ones have one row more.
  const Index blocks = (m + max_rows - 1) / max_rows;
  const Index rows = m / blocks, longer = m % blocks;
  Index i = 0;
  for (Index block = 0; block < blocks; ++block) {
    const Index count = rows + (block < longer);
    T* const to = c + i * c_stride;
    next.begin(block, blocks);
    prefetch_block(count, panel.width, to, c_stride);
    products[static_cast<std::size_t>(count - 1)](panel, a.at(i, 0).data, a.stride, beta, to,
                                                  c_stride);
    i += count;
  }
}

template void panel_product(Index, const Panel<float>&, const MatrixView<float>&, float, float*,
                            Index, const Prefetch&);
template void panel_product(Index, const Panel<double>&, const MatrixView<double>&, double, double*,
                            Index, const Prefetch&);

}  // namespace weft
