#include "autograd/kernels/matrix_product.hpp"

#include <limits>

#include "weft/autograd/nested_parallel_for.hpp"
#include "autograd/internal/bfloat16.hpp"
#include "autograd/kernels/blocked_product.hpp"
#include "autograd/kernels/library_product.hpp"
#include "autograd/kernels/row_product.hpp"

namespace weft {
namespace {

constexpr Index round_up(Index value, Index multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace

template <class T>
ProductKernel product_kernel(Precision precision, Index m, Index n, Index k, const MatrixView<T>& a,
                             const MatrixView<T>& b, T beta) {
  if (prefers_row_product(m) && !a.transposed && b.transposed && beta == T{0})
    return ProductKernel::rows;
  if constexpr (std::is_same_v<T, float>)
    if (precision == Precision::bf16 && prefers_bf16_product(m, n, k)) return ProductKernel::bf16;
  return ProductKernel::general;
}

template <class T>
MatrixView<T> widened(const MatrixView<T>& matrix, Index rows, Index columns) {
  const Index lines = matrix.transposed ? columns : rows,
              length = matrix.transposed ? rows : columns;
  static thread_local Tensor<T> memory;
  if (memory.size() < lines * length) memory = Tensor<T>::uninitialized({lines * length});
  parallel_for(lines, grain_of(length / 4), [&, to = memory.data()](Index first, Index last) {
    for (Index line = first; line < last; ++line)
      widen_bfloat16(length, matrix.bf16 + line * matrix.stride, to + line * length);
  });
  return {memory.data(), length, matrix.transposed};
}

template <class T>
void matrix_product_by(ProductKernel kernel, Index m, Index n, Index k, T alpha,
                       const MatrixView<T>& a, const MatrixView<T>& b, T beta, T* c,
                       Index c_stride) {
  if (m == 0 || n == 0) return;
  if constexpr (std::is_same_v<T, float>)
    if (kernel == ProductKernel::bf16)
      return Bf16Product(m, n, k, alpha, a, b, beta, m, n).compute(0, m, 0, n, c, c_stride);
  if (kernel == ProductKernel::rows) {
    if (b.bf16) return row_product(m, n, k, alpha, a.data, a.stride, b.bf16, b.stride, c, c_stride);
    return row_product(m, n, k, alpha, a.data, a.stride, b.data, b.stride, c, c_stride);
  }
  if (prefers_blocked_product(m, n, k))
    blocked_product(m, n, k, alpha, a, b, beta, c, c_stride);
  else
    library_product(m, n, k, alpha, a, b, beta, c, c_stride);
}

template <class T>
void matrix_product(Precision precision, Index m, Index n, Index k, T alpha, const MatrixView<T>& a,
                    const MatrixView<T>& b, T beta, T* c, Index c_stride) {
  matrix_product_by(product_kernel(precision, m, n, k, a, b, beta), m, n, k, alpha, a, b, beta, c,
                    c_stride);
}

Tiles::Tiles(ProductKernel kernel, Index m, Index n, Index k) : rows(m), columns(n) {
  if (kernel == ProductKernel::rows) {
    tile_rows = std::max<Index>(m, 1);
    tile_columns = row_product_grain(m, k);
    return;
  }
  // Enough tiles for 16 threads, but none so small that scheduling it, or reading its rows and
  // columns once more, would cost more than it saves. In bf16, multiplications take less time.
  const bool is_bf16 = kernel == ProductKernel::bf16;
  const Index min_work = Index{1} << (is_bf16 ? 23 : 19);  // multiplications
  const Index large_work = Index{1} << (is_bf16 ? 26 : 23);
  const Index few_tiles = is_bf16 ? 4 : 8;
  const auto tiles_of = [&](Index work) { return m * n / work * k + m * n % work * k / work; };
  const Index target = std::clamp<Index>(tiles_of(large_work),
                                         std::clamp<Index>(tiles_of(min_work), 1, few_tiles), 16);
  // Bf16Product copies tiles that are narrower than the result.
  choose_tiles(target, is_bf16 ? 2 * m * n / std::max<Index>(k, 1) : 0);
  const auto is_free_of_tiling = [&] {
    return !is_bf16 && prefers_blocked_product(tile_rows, tile_columns, k);
  };
  if (is_free_of_tiling() && is_alone()) {
    Index fewest = 0;
    do choose_tiles(++fewest, 0);
    while (!is_free_of_tiling());
  }
}

// Chooses the tiles that minimize the total cost. Each tile reads its rows of a and its columns of
// b. A tile below the target counts as if it read everything. `copy_cost` is the additional cost of
// tiles that are narrower than the result.
void Tiles::choose_tiles(Index target, Index copy_cost) {
  Index row_tiles = 1, column_tiles = 1;
  Index least = std::numeric_limits<Index>::max();
  for (Index r = 1; r <= target; ++r) {
    const Index candidate_row_tiles = std::clamp<Index>(rows / 48, 1, r);
    const Index candidate_column_tiles = std::clamp<Index>(columns / 48, 1, target / r);
    const Index missing = target - candidate_row_tiles * candidate_column_tiles;
    const Index cost = candidate_row_tiles * columns + candidate_column_tiles * rows +
                       missing * (rows + columns) + (candidate_column_tiles > 1 ? copy_cost : 0);
    if (cost >= least) continue;
    least = cost;
    row_tiles = candidate_row_tiles;
    column_tiles = candidate_column_tiles;
  }
  tile_rows = round_up((std::max<Index>(rows, 1) + row_tiles - 1) / row_tiles, 8);
  tile_columns = round_up((std::max<Index>(columns, 1) + column_tiles - 1) / column_tiles, 32);
}

template ProductKernel product_kernel(Precision, Index, Index, Index, const MatrixView<float>&,
                                      const MatrixView<float>&, float);
template ProductKernel product_kernel(Precision, Index, Index, Index, const MatrixView<double>&,
                                      const MatrixView<double>&, double);
template MatrixView<float> widened(const MatrixView<float>&, Index, Index);
template MatrixView<double> widened(const MatrixView<double>&, Index, Index);
template void matrix_product_by(ProductKernel, Index, Index, Index, float, const MatrixView<float>&,
                                const MatrixView<float>&, float, float*, Index);
template void matrix_product_by(ProductKernel, Index, Index, Index, double,
                                const MatrixView<double>&, const MatrixView<double>&, double,
                                double*, Index);
template void matrix_product(Precision, Index, Index, Index, float, const MatrixView<float>&,
                             const MatrixView<float>&, float, float*, Index);
template void matrix_product(Precision, Index, Index, Index, double, const MatrixView<double>&,
                             const MatrixView<double>&, double, double*, Index);

}  // namespace weft
