#include "weft/autograd/ops/matmul.hpp"

#include "autograd/internal/saturating_product.hpp"
#include "autograd/kernels/arrays.hpp"
#include "autograd/kernels/matrix_product.hpp"

namespace weft {
namespace {

// A batch of contiguous matrices; `batch_stride` is 0 if all share one matrix.
template <class T>
struct Matrices {
  const T* data;
  Index rows, columns;  // as stored
  Index batch_stride;
  bool transposed;

  MatrixView<T> operator[](Index batch) const {
    return {data + batch * batch_stride, columns, transposed};
  }
};

template <class T>
Matrices<T> transposed(Matrices<T> matrices) {
  matrices.transposed = !matrices.transposed;
  return matrices;
}

template <class T>
Matrices<T> matrices_of(const Tensor<T>& tensor, bool transposed) {
  const Index rows = tensor.shape()[-2], columns = tensor.shape()[-1];
  return {tensor.data(), rows, columns, tensor.rank() == 2 ? 0 : rows * columns, transposed};
}

// Computes c[i] = a[i] · b[i] + beta · c[i] for contiguous matrices c[i] [m, n]. If `summed`, sums
// all products into a single c.
template <class T>
void batched_product(Precision precision, Index batch, Index m, Index n, Index k,
                     const Matrices<T>& a, const Matrices<T>& b, T beta, T* c, bool summed) {
  if (batch == 1 || summed) {
    if (batch == 0 && beta == T{0}) std::fill(c, c + m * n, T{0});
    for (Index i = 0; i < batch; ++i)
      parallel_matrix_product(precision, m, n, k, T{1}, a[i], b[i], i == 0 ? beta : T{1}, c, n);
    return;
  }
  if (m == 0 || n == 0) return;
  parallel_for(batch, grain_of(saturating_product({m, n, k}) / 8), [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i)
      matrix_product(precision, m, n, k, T{1}, a[i], b[i], beta, c + i * m * n, n);
  });
}

}  // namespace

// Forward:  y = a b for every matrix of the batch, with a or b transposed by the options.
// Backward: da = dy bᵀ and db = aᵀ dy, transposed if a or b was. If the batch shares one b, db is
//           the sum over the batch.
template <class T>
Var<T> matmul(const Var<T>& a, const Var<T>& b, const MatmulOptions& options) {
  Tape<T>& tape = tape_of("matmul", a, b);
  const auto mismatch = [&] {
    fail<ShapeError>(str_cat("matmul", options.transpose_a ? " (a transposed)" : "",
                             options.transpose_b ? " (b transposed)" : ""),
                     "shapes [..., M, K] and [..., K, N], or [..., M, K] and [K, N]",
                     str_cat(a.shape(), " and ", b.shape()));
  };
  if (a.rank() < 2 || b.rank() < 2 || (b.rank() != 2 && b.rank() != a.rank())) mismatch();
  const bool shared_b = b.rank() == 2 && a.rank() > 2;
  Index batch = 1;
  for (Index axis = 0; axis + 2 < a.rank(); ++axis) {
    if (!shared_b && a.shape()[axis] != b.shape()[axis]) mismatch();
    batch *= a.shape()[axis];
  }
  const Index m = a.shape()[options.transpose_a ? -1 : -2];
  const Index k = a.shape()[options.transpose_a ? -2 : -1];
  const Index n = b.shape()[options.transpose_b ? -2 : -1];
  if (b.shape()[options.transpose_b ? -1 : -2] != k) mismatch();

  std::array<Index, Shape::max_rank> sizes{};
  std::copy(a.shape().begin(), a.shape().end() - 2, sizes.begin());
  const auto rank = static_cast<std::size_t>(a.rank());
  sizes[rank - 2] = m;
  sizes[rank - 1] = n;
  Tensor<T> y = tape.uninitialized(Shape(std::span<const Index>(sizes.data(), rank)));
  batched_product(tape.precision(), batch, m, n, k, matrices_of(a.value(), options.transpose_a),
                  matrices_of(b.value(), options.transpose_b), T{0}, y.data(), false);

  tape.count_products(m, n, k, batch);
  return tape.record(
      "matmul", y, {a.node(), b.node()},
      [a = a.node(), b = b.node(), a_value = a.value(), b_value = b.value(), options, batch, m, n,
       k, shared_b](Tape<T>& backward, const Tensor<T>& dy) {
        const Matrices<T> a_matrices = matrices_of(a_value, options.transpose_a);
        const Matrices<T> b_matrices = matrices_of(b_value, options.transpose_b);
        const Matrices<T> dy_matrices{dy.data(), m, n, m * n, false};
        if (const Gradient<T> da = backward.gradient(a)) {
          if (options.transpose_a)
            batched_product(backward.precision(), batch, k, m, n, b_matrices,
                            transposed(dy_matrices), da.beta(), da.data(), false);
          else
            batched_product(backward.precision(), batch, m, k, n, dy_matrices,
                            transposed(b_matrices), da.beta(), da.data(), false);
        }
        if (const Gradient<T> db = backward.gradient(b)) {
          if (options.transpose_b)
            batched_product(backward.precision(), batch, n, k, m, transposed(dy_matrices),
                            a_matrices, db.beta(), db.data(), shared_b);
          else
            batched_product(backward.precision(), batch, k, n, m, transposed(a_matrices),
                            dy_matrices, db.beta(), db.data(), shared_b);
        }
      });
}

template Var<float> matmul(const Var<float>&, const Var<float>&, const MatmulOptions&);
template Var<double> matmul(const Var<double>&, const Var<double>&, const MatmulOptions&);

}  // namespace weft
