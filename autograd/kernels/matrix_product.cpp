#include "autograd/kernels/matrix_product.hpp"

#include <Eigen/Core>
#include <limits>
#include <type_traits>

#include "weft/autograd/error.hpp"
#include "weft/autograd/nested_parallel_for.hpp"
#include "autograd/kernels/bf16_product.hpp"
#include "autograd/kernels/blocked_product.hpp"

#ifdef WEFT_HAS_ONEDNN
#include <dnnl.h>
#include <omp.h>
#include <pthread.h>

#include <csignal>
#endif

namespace weft {
namespace {

template <class T, int order>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, order>;
template <class M>
using MapOf = Eigen::Map<M, 0, Eigen::OuterStride<>>;

// Calls body(map) with an Eigen map of a matrix [rows, columns].
template <class T, class Body>
void with_map(const MatrixView<T>& matrix, Index rows, Index columns, const Body& body) {
  const Eigen::OuterStride<> stride(matrix.stride);
  if (matrix.transposed)
    body(MapOf<const Matrix<T, Eigen::ColMajor>>(matrix.data, rows, columns, stride));
  else
    body(MapOf<const Matrix<T, Eigen::RowMajor>>(matrix.data, rows, columns, stride));
}

template <class T>
void eigen_product(Index m, Index n, Index k, T alpha, const MatrixView<T>& a,
                   const MatrixView<T>& b, T beta, T* c, Index c_stride) {
  MapOf<Matrix<T, Eigen::RowMajor>> result(c, m, n, Eigen::OuterStride<>(c_stride));
  if (beta == T{0})
    result.setZero();
  else if (beta != T{1})
    result *= beta;
  with_map(a, m, k, [&](const auto& left) {
    with_map(b, k, n, [&](const auto& right) { result.noalias() += alpha * left * right; });
  });
}

#ifdef WEFT_HAS_ONEDNN
// Limits the library to the calling thread, and blocks signals. Up to version 3.11.1 oneDNN's
// kernels point the stack pointer into the heap while they run, so any signal handler would
// overwrite the heap (uxlfoundation/oneDNN issue 4845).
class OneThreadWithoutSignals {
 public:
  OneThreadWithoutSignals() : threads_(omp_get_max_threads()) {
    if (threads_ != 1) omp_set_num_threads(1);
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &signals_);
  }
  ~OneThreadWithoutSignals() {
    pthread_sigmask(SIG_SETMASK, &signals_, nullptr);
    if (threads_ != 1) omp_set_num_threads(threads_);
  }
  OneThreadWithoutSignals(const OneThreadWithoutSignals&) = delete;
  OneThreadWithoutSignals& operator=(const OneThreadWithoutSignals&) = delete;

 private:
  int threads_;
  sigset_t signals_;
};

#endif

constexpr Index round_up(Index value, Index multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace

template <class T>
void library_product(Index m, Index n, Index k, T alpha, const MatrixView<T>& a,
                     const MatrixView<T>& b, T beta, T* c, Index c_stride) {
#ifdef WEFT_HAS_ONEDNN
  if constexpr (std::is_same_v<T, float>) {
    const OneThreadWithoutSignals guard;
    const dnnl_status_t status =
        dnnl_sgemm(a.transposed ? 'T' : 'N', b.transposed ? 'T' : 'N', m, n, k, alpha, a.data,
                   a.stride, b.data, b.stride, beta, c, c_stride);
    if (status != dnnl_success)
      throw Error(str_cat("matrix product: oneDNN failed with status ", status));
    return;
  }
#endif
  eigen_product(m, n, k, alpha, a, b, beta, c, c_stride);
}

template <class T>
void matrix_product(Precision precision, Index m, Index n, Index k, T alpha, const MatrixView<T>& a,
                    const MatrixView<T>& b, T beta, T* c, Index c_stride) {
  if (m == 0 || n == 0) return;
  if constexpr (std::is_same_v<T, float>)
    if (precision == Precision::bf16) return bf16_product(m, n, k, alpha, a, b, beta, c, c_stride);
  if (prefers_blocked_product(m, n, k))
    blocked_product(m, n, k, alpha, a, b, beta, c, c_stride);
  else
    library_product(m, n, k, alpha, a, b, beta, c, c_stride);
}

Tiles::Tiles(Precision precision, Index m, Index n, Index k) : rows(m), columns(n) {
  // Enough tiles for 16 threads, but none so small that scheduling it, or reading its rows and
  // columns once more, would cost more than it saves.
  constexpr Index min_work = Index{1} << 19, large_work = Index{1} << 23;  // multiplications
  const auto tiles_of = [&](Index work) { return m * n / work * k + m * n % work * k / work; };
  const Index target =
      std::clamp<Index>(tiles_of(large_work), std::clamp<Index>(tiles_of(min_work), 1, 8), 16);
  // A shared b is packed once for all tiles; the rows of a are packed for each tile.
  const Index row_cost = precision == Precision::bf16 && SharedBf16Matrix::is_shared(n, k) ? 4 : 1;
  choose_tiles(target, row_cost);
  const auto is_free_of_tiling = [&] {
    return precision == Precision::bf16 || prefers_blocked_product(tile_rows, tile_columns, k);
  };
  if (is_free_of_tiling() && is_alone()) {
    Index fewest = 0;
    do choose_tiles(++fewest, row_cost);
    while (!is_free_of_tiling());
  }
}

// Chooses the tiles that minimize the total cost. Each tile reads its columns of b, and its rows of
// a at `row_cost` per element. A tile below the target counts as if it read everything.
void Tiles::choose_tiles(Index target, Index row_cost) {
  Index row_tiles = 1, column_tiles = 1;
  Index least = std::numeric_limits<Index>::max();
  for (Index r = 1; r <= target; ++r) {
    const Index candidate_row_tiles = std::clamp<Index>(rows / 48, 1, r);
    const Index candidate_column_tiles = std::clamp<Index>(columns / 48, 1, target / r);
    const Index missing = target - candidate_row_tiles * candidate_column_tiles;
    const Index cost = candidate_row_tiles * columns + candidate_column_tiles * rows * row_cost +
                       missing * (rows * row_cost + columns);
    if (cost >= least) continue;
    least = cost;
    row_tiles = candidate_row_tiles;
    column_tiles = candidate_column_tiles;
  }
  tile_rows = round_up((std::max<Index>(rows, 1) + row_tiles - 1) / row_tiles, 8);
  tile_columns = round_up((std::max<Index>(columns, 1) + column_tiles - 1) / column_tiles,
                          SharedBf16Matrix::column_multiple);
}

const char* matrix_product_library() {
#ifdef WEFT_HAS_ONEDNN
  return "oneDNN";
#else
  return "Eigen";
#endif
}

template void library_product(Index, Index, Index, float, const MatrixView<float>&,
                              const MatrixView<float>&, float, float*, Index);
template void library_product(Index, Index, Index, double, const MatrixView<double>&,
                              const MatrixView<double>&, double, double*, Index);
template void matrix_product(Precision, Index, Index, Index, float, const MatrixView<float>&,
                             const MatrixView<float>&, float, float*, Index);
template void matrix_product(Precision, Index, Index, Index, double, const MatrixView<double>&,
                             const MatrixView<double>&, double, double*, Index);

}  // namespace weft
