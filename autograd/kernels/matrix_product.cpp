#include "autograd/kernels/matrix_product.hpp"

#include <Eigen/Core>
#include <limits>

#include "weft/autograd/error.hpp"
#include "autograd/kernels/blocked_product.hpp"

#ifdef WEFT_HAS_ONEDNN
#include <dnnl.h>
#include <omp.h>
#include <pthread.h>

#include <csignal>
#endif

namespace weft {
namespace {

template <class T>
using RowMajor = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using ConstMap = Eigen::Map<const RowMajor<T>, 0, Eigen::OuterStride<>>;

template <class T>
void eigen_product(Index m, Index n, Index k, T alpha, const MatrixView<T>& a,
                   const MatrixView<T>& b, T beta, T* c, Index c_stride) {
  Eigen::Map<RowMajor<T>, 0, Eigen::OuterStride<>> result(c, m, n, Eigen::OuterStride<>(c_stride));
  if (beta == T{0})
    result.setZero();
  else if (beta != T{1})
    result *= beta;
  const Eigen::OuterStride<> a_stride(a.stride), b_stride(b.stride);
  const auto multiply = [&](const auto& left, const auto& right) {
    result.noalias() += alpha * left * right;
  };
  const auto with_left = [&](const auto& left) {
    if (b.transposed)
      multiply(left, ConstMap<T>(b.data, n, k, b_stride).transpose());
    else
      multiply(left, ConstMap<T>(b.data, k, n, b_stride));
  };
  if (a.transposed)
    with_left(ConstMap<T>(a.data, k, m, a_stride).transpose());
  else
    with_left(ConstMap<T>(a.data, m, k, a_stride));
}

#ifdef WEFT_HAS_ONEDNN
// Holds the library to the calling thread, and signals back. Up to version 3.11.1 oneDNN's kernels
// point the stack pointer into the heap while they run, so a signal's handler, whoever set it,
// would overwrite what lies there (uxlfoundation/oneDNN issue 4845).
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

void large_product(Index m, Index n, Index k, float alpha, const MatrixView<float>& a,
                   const MatrixView<float>& b, float beta, float* c, Index c_stride) {
  const OneThreadWithoutSignals alone;
  const dnnl_status_t status =
      dnnl_sgemm(a.transposed ? 'T' : 'N', b.transposed ? 'T' : 'N', m, n, k, alpha, a.data,
                 a.stride, b.data, b.stride, beta, c, c_stride);
  if (status != dnnl_success)
    fail<Error>("matrix product", "oneDNN to succeed", concatenate_text("its status ", status));
}
#else
void large_product(Index m, Index n, Index k, float alpha, const MatrixView<float>& a,
                   const MatrixView<float>& b, float beta, float* c, Index c_stride) {
  eigen_product(m, n, k, alpha, a, b, beta, c, c_stride);
}
#endif

void large_product(Index m, Index n, Index k, double alpha, const MatrixView<double>& a,
                   const MatrixView<double>& b, double beta, double* c, Index c_stride) {
  eigen_product(m, n, k, alpha, a, b, beta, c, c_stride);
}

constexpr Index round_up(Index value, Index multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace

template <class T>
void matrix_product(Index m, Index n, Index k, T alpha, const MatrixView<T>& a,
                    const MatrixView<T>& b, T beta, T* c, Index c_stride) {
  if (m == 0 || n == 0) return;
  if (is_for_blocks(m, n, k))
    blocked_product(m, n, k, alpha, a, b, beta, c, c_stride);
  else
    large_product(m, n, k, alpha, a, b, beta, c, c_stride);
}

Tiles::Tiles(Index m, Index n, Index k) : rows(m), columns(n) {
  // About eight tiles, but none so small that handing it out costs more than it saves.
  constexpr Index smallest = Index{1} << 19;  // multiplications
  cut(std::clamp<Index>(m * n / smallest * k + m * n % smallest * k / smallest, 1, 8));
  const auto is_ours = [&] { return is_for_blocks(tile_rows, tile_columns, k); };
  if (is_ours() && is_sequential()) {
    Index wanted = 0;
    do cut(++wanted);
    while (!is_ours());
  }
}

// Each tile reads its rows of a and its columns of b: cuts where that is least in all. A tile too
// few counts as much as one that reads everything.
void Tiles::cut(Index wanted) {
  Index by_rows = 1, by_columns = 1;
  Index least = std::numeric_limits<Index>::max();
  for (Index r = 1; r <= wanted; ++r) {
    const Index across_rows = std::clamp<Index>(rows / 48, 1, r);
    const Index across_columns = std::clamp<Index>(columns / 48, 1, wanted / r);
    const Index missing = wanted - across_rows * across_columns;
    const Index read = across_rows * columns + across_columns * rows + missing * (rows + columns);
    if (read >= least) continue;
    least = read;
    by_rows = across_rows;
    by_columns = across_columns;
  }
  tile_rows = round_up((std::max<Index>(rows, 1) + by_rows - 1) / by_rows, 8);
  tile_columns = round_up((std::max<Index>(columns, 1) + by_columns - 1) / by_columns, 16);
}

const char* matrix_product_library() {
#ifdef WEFT_HAS_ONEDNN
  return "oneDNN";
#else
  return "Eigen";
#endif
}

template void matrix_product(Index, Index, Index, float, const MatrixView<float>&,
                             const MatrixView<float>&, float, float*, Index);
template void matrix_product(Index, Index, Index, double, const MatrixView<double>&,
                             const MatrixView<double>&, double, double*, Index);

}  // namespace weft
