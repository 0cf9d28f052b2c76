#include "autograd/kernels/library_product.hpp"

#include <Eigen/Core>
#include <array>
#include <map>
#include <type_traits>

#include "weft/autograd/error.hpp"

#ifdef WEFT_HAS_ONEDNN
#include <omp.h>
#include <pthread.h>

#include <csignal>
#include <dnnl.hpp>
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

const dnnl::engine& engine() {
  static const dnnl::engine processor(dnnl::engine::kind::cpu, 0);
  return processor;
}

// oneDNN's product of contiguous matrices of the same sizes.
class Matmul {
 public:
  struct Sizes {
    Index m, n, k;
    bool transpose_a, transpose_b, is_added;

    auto operator<=>(const Sizes&) const = default;
  };

  Matmul(const Sizes& sizes, dnnl::memory::data_type type) : stream_(engine()) {
    const auto& [m, n, k, transpose_a, transpose_b, is_added] = sizes;
    const auto matrix = [](Index rows, Index columns, bool transposed,
                           dnnl::memory::data_type elements) {
      return dnnl::memory::desc(
          {rows, columns}, elements,
          transposed ? dnnl::memory::dims{1, rows} : dnnl::memory::dims{columns, 1});
    };
    const auto a = matrix(m, k, transpose_a, type), b = matrix(k, n, transpose_b, type),
               c = matrix(m, n, false, dnnl::memory::data_type::f32);
    dnnl::primitive_attr attributes;
    if (is_added) {
      dnnl::post_ops sum;
      sum.append_sum(1.0F);
      attributes.set_post_ops(sum);
    }
#if DNNL_VERSION_MAJOR >= 3
    primitive_ = dnnl::matmul({engine(), a, b, c, attributes});
#else
    primitive_ = dnnl::matmul({dnnl::matmul::desc(a, b, c), attributes, engine()});
#endif
    a_ = dnnl::memory(a, engine(), nullptr);
    b_ = dnnl::memory(b, engine(), nullptr);
    c_ = dnnl::memory(c, engine(), nullptr);
  }

  void run(const void* a, const void* b, float* c) {
    a_.set_data_handle(const_cast<void*>(a));
    b_.set_data_handle(const_cast<void*>(b));
    c_.set_data_handle(c);
    primitive_.execute(stream_, {{DNNL_ARG_SRC, a_}, {DNNL_ARG_WEIGHTS, b_}, {DNNL_ARG_DST, c_}});
  }

 private:
  dnnl::stream stream_;
  dnnl::matmul primitive_;
  dnnl::memory a_, b_, c_;
};

// Returns a product that the thread keeps: a primitive must run on the thread that created it.
template <class Element>
Matmul& matmul_of(const Matmul::Sizes& sizes) {
  // Inputs of varying lengths have ever new sizes. Creating a product again takes 20 microseconds
  // while it is in oneDNN's own cache.
  constexpr std::size_t most = 256;
  static thread_local std::map<Matmul::Sizes, Matmul> products;
  if (const auto found = products.find(sizes); found != products.end()) return found->second;
  if (products.size() == most) products.clear();
  constexpr auto type =
      std::is_same_v<Element, float> ? dnnl::memory::data_type::f32 : dnnl::memory::data_type::bf16;
  return products.try_emplace(sizes, sizes, type).first->second;
}
#endif

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

template <class Element>
void dense_product(Index m, Index n, Index k, const DenseMatrix<Element>& a,
                   const DenseMatrix<Element>& b, bool is_added, float* c) {
#ifdef WEFT_HAS_ONEDNN
  try {
    const OneThreadWithoutSignals guard;
    matmul_of<Element>({m, n, k, a.transposed, b.transposed, is_added}).run(a.data, b.data, c);
  } catch (const dnnl::error& error) {
    throw Error(str_cat("matrix product: oneDNN failed: ", error.what()));
  }
#else
  const auto view = [](const DenseMatrix<Element>& matrix, Index rows, Index columns) {
    return MatrixView<Element>{matrix.data, matrix.transposed ? rows : columns, matrix.transposed};
  };
  if constexpr (std::is_same_v<Element, float>)
    eigen_product(m, n, k, 1.0F, view(a, m, k), view(b, k, n), is_added ? 1.0F : 0.0F, c, n);
  else
    throw Error("matrix product: expected weft built with oneDNN for bf16 numbers");
#endif
}

bool has_bf16_product() {
#ifdef WEFT_HAS_ONEDNN
  // Each instruction set contains the bits of those that it includes.
  constexpr auto needed = static_cast<unsigned>(dnnl::cpu_isa::avx512_core_bf16);
  static const bool has_instructions =
      (static_cast<unsigned>(dnnl::get_effective_cpu_isa()) & needed) == needed;
  return has_instructions;
#else
  return false;
#endif
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
template void dense_product(Index, Index, Index, const DenseMatrix<float>&,
                            const DenseMatrix<float>&, bool, float*);
template void dense_product(Index, Index, Index, const DenseMatrix<std::uint16_t>&,
                            const DenseMatrix<std::uint16_t>&, bool, float*);

}  // namespace weft
