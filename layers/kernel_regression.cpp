#include "weft/layers/kernel_regression.hpp"

#include <cmath>
#include <limits>

#include "weft/autograd/error.hpp"
#include "weft/autograd/ops/arithmetic.hpp"
#include "weft/autograd/ops/elementwise.hpp"
#include "weft/autograd/ops/matmul.hpp"
#include "weft/autograd/ops/shaping.hpp"
#include "weft/autograd/ops/softmax.hpp"
#include "weft/autograd/tape.hpp"
#include "autograd/ops/internal/masked_nan.hpp"

namespace weft {
namespace {

// Returns log K(u), whose softmax is K / Σ K; unspecified where K is 0.
template <class T>
Var<T> log_kernel(Kernel kernel, const Var<T>& u) {
  const auto log_of_1_minus = [&](const Var<T>& x) {
    // Less than 1 - u² and 1 - |u| for any |u| < 1, so that only points with K = 0 are clamped.
    constexpr double tiny = 1e-30;
    return log(clamp(1 - x, tiny, 1.0));
  };
  switch (kernel) {
    case Kernel::constant:
    case Kernel::boxcar:
      return u.tape().constant(u.tape().zeros(u.shape()));
    case Kernel::gaussian:
      return scale(u * u, -0.5);
    case Kernel::epanechnikov:
      return log_of_1_minus(u * u);
    case Kernel::triangular:
      return log_of_1_minus(abs(u));
  }
  fail<ValueError>("kernel", "a value of Kernel", static_cast<int>(kernel));
}

// Whether K(u) > 0.
template <class T>
bool is_in_support(Kernel kernel, T u) {
  switch (kernel) {
    case Kernel::constant:
    case Kernel::gaussian:
      return true;
    case Kernel::boxcar:
      return std::abs(u) <= T{1};
    default:
      return std::abs(u) < T{1};
  }
}

}  // namespace

template <class T>
KernelRegression<T>::KernelRegression(const KernelRegressionOptions& options)
    : kernel(options.kernel), w(Tensor<T>({1}, {static_cast<T>(options.w)})) {
  if (const T width = w.value().item(); !(width > T{0}) || std::isinf(width))
    fail<ValueError>("KernelRegression: w", "a finite number > 0", options.w);
}

template <class T>
Var<T> KernelRegression<T>::operator()(const Var<T>& queries, const Var<T>& keys,
                                       const Var<T>& values, const Tensor<bool>& allowed) const {
  if (queries.rank() != 1 || keys.rank() != 1 || values.shape() != keys.shape())
    fail<ShapeError>("KernelRegression",
                     "queries [num_queries], keys [num_keys] and values [num_keys]",
                     str_cat(queries.shape(), ", ", keys.shape(), " and ", values.shape()));
  const Index num_queries = queries.size(), num_keys = keys.size();
  if (allowed.shape() != Shape{0} && allowed.shape() != Shape{num_queries, num_keys})
    fail<ShapeError>("KernelRegression: allowed", Shape{num_queries, num_keys}, allowed.shape());
  Mask mask;
  if (allowed.shape() != Shape{0}) mask.allowed = allowed.reshaped({1, num_queries, num_keys});
  // Treated as one sequence with one head and vectors of size 1.
  const Var<T> k = reshape(keys, {1, num_keys, 1}), v = reshape(values, {1, num_keys, 1});
  const MaskView view("masked_softmax", mask, 1, 1, num_queries, num_keys);
  const Var<T> q = visible_queries(view, reshape(queries, {1, num_queries, 1}), k);
  const FiniteKeys<T> finite = finite_keys(k, v);
  const Var<T> difference =
      reshape(q, {1, 1, num_queries, 1}) - reshape(finite.keys, {1, 1, 1, num_keys});
  const Var<T> u = difference * queries.tape().parameter(w);

  mask.bias = Tensor<float>({1, num_queries, num_keys});
  for (Index i = 0; i < u.size(); ++i)
    if (!is_in_support(kernel, u.value().data()[i]))
      mask.bias.data()[i] = -std::numeric_limits<float>::infinity();
  const Var<T> p = masked_softmax(finite.mark(log_kernel(kernel, u)), mask);
  Tape<T>& tape = p.tape();
  if (tape.keeps_attention_weights()) tape.add_attention_weights(p.value());
  const Var<T> y = matmul(reshape(p, {1, num_queries, num_keys}), finite.values);
  return reshape(y, {num_queries});
}

template <class T>
void KernelRegression<T>::members(Members<T>& members) const {
  members.type("KernelRegression", "kernel=" + to_string(kernel));
  members("w", w);
}

template struct KernelRegression<float>;
template struct KernelRegression<double>;

}  // namespace weft
