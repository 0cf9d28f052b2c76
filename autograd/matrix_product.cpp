#include "autograd/matrix_product.hpp"

#include <Eigen/Core>

#include "autograd/error.hpp"

#ifdef WEFT_HAS_ONEDNN
#include <dnnl.h>
#include <omp.h>
#endif

namespace weft {
namespace {

// --- Small products ------------------------------------------------------------------------------
// Libraries spend more time on preparing a product of a few thousand multiplications than on the
// multiplications. Here b is copied into panels as wide as a vector, padded with zeros, and c is
// computed eight rows at a time.

constexpr Index vector_bytes = 64;
template <class T>
constexpr Index lanes = vector_bytes / static_cast<Index>(sizeof(T));
template <class T>
struct VectorOf;
template <>
struct VectorOf<float> {
  using type [[gnu::vector_size(vector_bytes)]] = float;
};
template <>
struct VectorOf<double> {
  using type [[gnu::vector_size(vector_bytes)]] = double;
};
template <class T>
using Vector = typename VectorOf<T>::type;

constexpr Index small_product_limit = 1 << 16;  // multiplications
constexpr Index small_panel_bytes = 1 << 14;

template <class T>
bool is_small(Index m, Index n, Index k) {
  const Index panels = (n + lanes<T> - 1) / lanes<T>;
  return m * n * k <= small_product_limit && panels * k * vector_bytes <= small_panel_bytes;
}

// Rows i … i + rows of c, one panel of columns.
template <Index rows, class T>
void panel_product(Index columns, Index k, T alpha, MatrixView<T> a, const Vector<T>* panel, T beta,
                   T* c, Index c_stride) {
  const Index row_step = a.transposed ? 1 : a.stride;
  const Index column_step = a.transposed ? a.stride : 1;
  Vector<T> sums[rows] = {};
  for (Index p = 0; p < k; ++p) {
    const T* element = a.data + p * column_step;
    for (Index r = 0; r < rows; ++r) sums[r] += element[r * row_step] * panel[p];
  }
  for (Index r = 0; r < rows; ++r) {
    T* c_row = c + r * c_stride;
    alignas(vector_bytes) T results[lanes<T>];
    *reinterpret_cast<Vector<T>*>(results) = alpha * sums[r];
    if (beta == T{0})
      for (Index j = 0; j < columns; ++j) c_row[j] = results[j];
    else
      for (Index j = 0; j < columns; ++j) c_row[j] = beta * c_row[j] + results[j];
  }
}

template <class T>
void small_product(Index m, Index n, Index k, T alpha, MatrixView<T> a, MatrixView<T> b, T beta,
                   T* c, Index c_stride) {
  alignas(vector_bytes) T storage[small_panel_bytes / static_cast<Index>(sizeof(T))];
  for (Index j0 = 0; j0 < n; j0 += lanes<T>) {
    const Index columns = std::min(lanes<T>, n - j0);
    for (Index p = 0; p < k; ++p) {
      T* panel_row = storage + p * lanes<T>;
      const MatrixView<T> from = b.at(p, j0);
      const Index step = b.transposed ? b.stride : 1;
      for (Index j = 0; j < columns; ++j) panel_row[j] = from.data[j * step];
      for (Index j = columns; j < lanes<T>; ++j) panel_row[j] = T{0};
    }
    const auto* panel = reinterpret_cast<const Vector<T>*>(storage);
    T* c_panel = c + j0;
    Index i = 0;
    for (; i + 8 <= m; i += 8)
      panel_product<8>(columns, k, alpha, a.at(i, 0), panel, beta, c_panel + i * c_stride,
                       c_stride);
    for (; i + 4 <= m; i += 4)
      panel_product<4>(columns, k, alpha, a.at(i, 0), panel, beta, c_panel + i * c_stride,
                       c_stride);
    for (; i < m; ++i)
      panel_product<1>(columns, k, alpha, a.at(i, 0), panel, beta, c_panel + i * c_stride,
                       c_stride);
  }
}

// --- Large products ------------------------------------------------------------------------------

template <class T>
using RowMajor = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using ConstMap = Eigen::Map<const RowMajor<T>, 0, Eigen::OuterStride<>>;

template <class T>
void eigen_product(Index m, Index n, Index k, T alpha, MatrixView<T> a, MatrixView<T> b, T beta,
                   T* c, Index c_stride) {
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
// Holds the library to the calling thread.
class OneThread {
 public:
  OneThread() : threads_(omp_get_max_threads()) {
    if (threads_ != 1) omp_set_num_threads(1);
  }
  ~OneThread() {
    if (threads_ != 1) omp_set_num_threads(threads_);
  }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int threads_;
};

void large_product(Index m, Index n, Index k, float alpha, MatrixView<float> a, MatrixView<float> b,
                   float beta, float* c, Index c_stride) {
  const OneThread one_thread;
  const dnnl_status_t status =
      dnnl_sgemm(a.transposed ? 'T' : 'N', b.transposed ? 'T' : 'N', m, n, k, alpha, a.data,
                 a.stride, b.data, b.stride, beta, c, c_stride);
  if (status != dnnl_success)
    fail<Error>("matrix product", "oneDNN to succeed", concatenate_text("its status ", status));
}
#else
void large_product(Index m, Index n, Index k, float alpha, MatrixView<float> a, MatrixView<float> b,
                   float beta, float* c, Index c_stride) {
  eigen_product(m, n, k, alpha, a, b, beta, c, c_stride);
}
#endif

void large_product(Index m, Index n, Index k, double alpha, MatrixView<double> a,
                   MatrixView<double> b, double beta, double* c, Index c_stride) {
  eigen_product(m, n, k, alpha, a, b, beta, c, c_stride);
}

constexpr Index round_up(Index value, Index multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace

template <class T>
void matrix_product(Index m, Index n, Index k, T alpha, MatrixView<T> a, MatrixView<T> b, T beta,
                    T* c, Index c_stride) {
  if (m == 0 || n == 0) return;
  if (is_small<T>(m, n, k))
    small_product(m, n, k, alpha, a, b, beta, c, c_stride);
  else
    large_product(m, n, k, alpha, a, b, beta, c, c_stride);
}

Tiles::Tiles(Index m, Index n, Index k)
    : rows(m), columns(n), tile_rows(std::max<Index>(m, 1)), tile_columns(std::max<Index>(n, 1)) {
  // About eight tiles, but none so small that handing it out costs more than it saves.
  constexpr Index smallest = Index{1} << 19;  // multiplications
  const Index wanted =
      std::clamp<Index>(m * n / smallest * k + m * n % smallest * k / smallest, 1, 8);
  // Rows are cut first: then every tile reads b whole, and its rows of a once.
  const Index by_rows = std::clamp<Index>(m / 48, 1, wanted);
  const Index by_columns = std::clamp<Index>(n / 48, 1, wanted / by_rows);
  tile_rows = round_up((tile_rows + by_rows - 1) / by_rows, 8);
  tile_columns = round_up((tile_columns + by_columns - 1) / by_columns, 16);
}

const char* matrix_product_library() {
#ifdef WEFT_HAS_ONEDNN
  return "oneDNN";
#else
  return "Eigen";
#endif
}

template void matrix_product(Index, Index, Index, float, MatrixView<float>, MatrixView<float>,
                             float, float*, Index);
template void matrix_product(Index, Index, Index, double, MatrixView<double>, MatrixView<double>,
                             double, double*, Index);

}  // namespace weft
