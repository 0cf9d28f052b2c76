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
// multiplications. Here c is computed in blocks of up to eight rows, as wide as a vector, that stay
// in registers; b is read where it lies or, where its rows are not contiguous or too short, from a
// copy padded with zeros.

constexpr Index vector_bytes = 64;
template <class T>
constexpr Index lanes = vector_bytes / static_cast<Index>(sizeof(T));
// Numbers that are worked on together, and the same numbers anywhere in memory.
template <class T, Index bytes>
struct VectorOf {
  typedef T type __attribute__((vector_size(bytes)));
  typedef T unaligned __attribute__((vector_size(bytes), aligned(alignof(T)), may_alias));
};
template <class T>
using Vector = typename VectorOf<T, vector_bytes>::type;
template <class T, Index bytes = vector_bytes>
using UnalignedVector = typename VectorOf<T, bytes>::unaligned;

constexpr Index small_product_limit = 1 << 16;  // multiplications
constexpr Index small_panel_bytes = 1 << 14;

template <class T>
bool is_small(Index m, Index n, Index k) {
  return m * n * k <= small_product_limit && k * vector_bytes <= small_panel_bytes;
}

// c = sum + beta · c on the first `columns` numbers.
template <class T>
void store_row(const Vector<T>& sum, Index columns, T beta, T* c) {
  using Half = UnalignedVector<T, vector_bytes / 2>;
  if (columns == lanes<T>) {
    auto& all = *reinterpret_cast<UnalignedVector<T>*>(c);
    all = beta == T{0} ? sum : sum + beta * all;
    return;
  }
  Index j = 0;
  if (columns >= lanes<T> / 2) {
    auto& half = *reinterpret_cast<Half*>(c);
    const auto& first = *reinterpret_cast<const Half*>(&sum);
    half = beta == T{0} ? first : first + beta * half;
    j = lanes<T> / 2;
  }
  for (; j < columns; ++j) c[j] = beta == T{0} ? sum[j] : sum[j] + beta * c[j];
}

// `rows` rows of c, one panel of columns. Rows of the panel are panel_stride apart.
template <Index rows, class T>
void panel_product(Index columns, Index k, T alpha, MatrixView<T> a, const T* panel,
                   Index panel_stride, T beta, T* c, Index c_stride) {
  const Index row_step = a.transposed ? 1 : a.stride;
  const Index column_step = a.transposed ? a.stride : 1;
  Vector<T> sums[rows] = {};
  for (Index p = 0; p < k; ++p) {
    const Vector<T> b_row = *reinterpret_cast<const UnalignedVector<T>*>(panel + p * panel_stride);
    const T* a_column = a.data + p * column_step;
    for (Index r = 0; r < rows; ++r) sums[r] += a_column[r * row_step] * b_row;
  }
  for (Index r = 0; r < rows; ++r) store_row<T>(alpha * sums[r], columns, beta, c + r * c_stride);
}

// The columns of b from j on, copied and padded.
template <class T>
void copy_panel(Index j, Index columns, Index k, MatrixView<T> b, T* panel) {
  if (b.transposed) {
    if (columns < lanes<T>) std::fill(panel, panel + k * lanes<T>, T{0});
    for (Index column = 0; column < columns; ++column) {
      const T* from = b.at(0, j + column).data;
      for (Index p = 0; p < k; ++p) panel[p * lanes<T> + column] = from[p];
    }
    return;
  }
  for (Index p = 0; p < k; ++p) {
    T* end = std::copy_n(b.at(p, j).data, columns, panel + p * lanes<T>);
    std::fill(end, panel + (p + 1) * lanes<T>, T{0});
  }
}

template <class T>
void small_product(Index m, Index n, Index k, T alpha, MatrixView<T> a, MatrixView<T> b, T beta,
                   T* c, Index c_stride) {
  alignas(vector_bytes) T copy[small_panel_bytes / static_cast<Index>(sizeof(T))];
  for (Index j = 0; j < n; j += lanes<T>) {
    const Index columns = std::min(lanes<T>, n - j);
    const T* panel = b.data + j;
    Index stride = b.stride;
    if (b.transposed || columns < lanes<T>) {
      copy_panel(j, columns, k, b, copy);
      panel = copy;
      stride = lanes<T>;
    }
    for (Index i = 0; i < m; i += 8) {
      const auto rows_from = [&]<Index rows>() {
        panel_product<rows>(columns, k, alpha, a.at(i, 0), panel, stride, beta,
                            c + i * c_stride + j, c_stride);
      };
      switch (m - i) {
        case 1:
          rows_from.template operator()<1>();
          break;
        case 2:
          rows_from.template operator()<2>();
          break;
        case 3:
          rows_from.template operator()<3>();
          break;
        case 4:
          rows_from.template operator()<4>();
          break;
        case 5:
          rows_from.template operator()<5>();
          break;
        case 6:
          rows_from.template operator()<6>();
          break;
        case 7:
          rows_from.template operator()<7>();
          break;
        default:
          rows_from.template operator()<8>();
      }
    }
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
