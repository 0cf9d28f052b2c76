#include "weft/autograd/ops/softmax.hpp"

#include <limits>

#include "autograd/kernels/arrays.hpp"
#include "autograd/kernels/softmax_rows.hpp"
#include "autograd/ops/internal/mask_view.hpp"

namespace weft {
namespace {

template <class T>
void check_rank(const char* operation, const Var<T>& x) {
  if (x.rank() < 1) fail<ShapeError>(operation, "at least one axis", x.shape());
}

// Computes dx = y * (dy - <dy, y>) on each row. If a row of y is zeros, so is its dx.
template <class T>
void softmax_backward(const Tensor<T>& y, const Tensor<T>& dy, const Gradient<T>& dx) {
  const Index n = y.shape().columns();
  if (n == 0) return;
  parallel_for(y.shape().rows(), grain_of(4 * n), [&](Index begin, Index end) {
    for (Index row = begin; row < end; ++row) {
      const auto y_row = array(y, row * n, (row + 1) * n);
      const auto dy_row = array(dy, row * n, (row + 1) * n);
      accumulate(dx, row * n, (row + 1) * n, y_row * (dy_row - (dy_row * y_row).sum()));
    }
  });
}

}  // namespace

// Forward:  y_j = exp(x_j - max x) / Σ_k exp(x_k - max x), over the last axis.
// Backward: dx = y * (dy - <dy, y>), so only y is kept.
template <class T>
Var<T> softmax(const Var<T>& x) {
  check_rank("softmax", x);
  Tensor<T> y = x.tape().uninitialized(x.shape());
  const Index n = x.shape().columns();
  if (n > 0)
    parallel_for(x.shape().rows(), grain_of(16 * n), [&](Index begin, Index end) {
      for (Index row = begin; row < end; ++row) {
        const T* x_row = x.value().data() + row * n;
        T* y_row = y.data() + row * n;
        normalize_row(y_row, n, exponentiate_row(x_row, y_row, n));
      }
    });
  return x.tape().record("softmax", y, {x.node()},
                         [x = x.node(), y](Tape<T>& backward, const Tensor<T>& dy) {
                           softmax_backward(y, dy, backward.gradient(x));
                         });
}

// Forward:  y_j = (x_j - max x) - log Σ_k exp(x_k - max x), over the last axis.
// Backward: dx = dy - exp(y) Σ_k dy_k.
template <class T>
Var<T> log_softmax(const Var<T>& x) {
  check_rank("log_softmax", x);
  Tensor<T> y = x.tape().uninitialized(x.shape());
  const Index n = x.shape().columns();
  const Index rows = x.shape().rows();
  if (n > 0)
    parallel_for(rows, grain_of(16 * n), [&](Index begin, Index end) {
      for (Index row = begin; row < end; ++row) {
        const auto x_row = array(x.value(), row * n, (row + 1) * n);
        auto y_row = array(y, row * n, (row + 1) * n);
        y_row = x_row - x_row.maxCoeff();
        y_row -= std::log(y_row.exp().sum());
      }
    });
  return x.tape().record(
      "log_softmax", y, {x.node()}, [x = x.node(), y](Tape<T>& backward, const Tensor<T>& dy) {
        const Gradient<T> dx = backward.gradient(x);
        const Index columns = y.shape().columns();
        if (columns == 0) return;
        parallel_for(y.shape().rows(), grain_of(16 * columns), [&](Index begin, Index end) {
          for (Index row = begin; row < end; ++row) {
            const auto y_row = array(y, row * columns, (row + 1) * columns);
            const auto dy_row = array(dy, row * columns, (row + 1) * columns);
            accumulate(dx, row * columns, (row + 1) * columns, dy_row - y_row.exp() * dy_row.sum());
          }
        });
      });
}

// Forward and backward equal softmax over the keys that are not masked; y and dx are 0 at masked
// keys.
template <class T>
Var<T> masked_softmax(const Var<T>& scores, const Mask& mask) {
  const Shape& shape = scores.shape();
  if (shape.rank() != 3 && shape.rank() != 4)
    fail<ShapeError>("masked_softmax", "[batch, queries, keys] or [batch, heads, queries, keys]",
                     shape);
  const Index batch = shape[0], heads = shape.rank() == 4 ? shape[1] : 1;
  const Index queries = shape[-2], keys = shape[-1];
  const MaskView view("masked_softmax", mask, batch, heads, queries, keys);
  Tensor<T> y = scores.tape().uninitialized(shape);
  if (keys > 0)
    parallel_for(shape.rows(), grain_of(16 * keys), [&](Index begin, Index end) {
      for (Index row = begin; row < end; ++row) {
        const Index query = row % queries, head = row / queries % heads, b = row / queries / heads;
        const Index limit = view.limit(b, query);
        T* y_row = y.data() + row * keys;
        const T* x_row =
            view.apply(b, head, query, 0, limit, scores.value().data() + row * keys, y_row);
        normalize_row(y_row, limit, exponentiate_row(x_row, y_row, limit));
        std::fill(y_row + limit, y_row + keys, T{0});
      }
    });
  // 0 · (dy - <dy, y>) is 0 at masked keys, as dy is finite.
  return scores.tape().record("masked_softmax", y, {scores.node()},
                              [x = scores.node(), y](Tape<T>& backward, const Tensor<T>& dy) {
                                softmax_backward(y, dy, backward.gradient(x));
                              });
}

template Var<float> masked_softmax(const Var<float>&, const Mask&);
template Var<double> masked_softmax(const Var<double>&, const Mask&);
template Var<float> softmax(const Var<float>&);
template Var<double> softmax(const Var<double>&);
template Var<float> log_softmax(const Var<float>&);
template Var<double> log_softmax(const Var<double>&);

}  // namespace weft
