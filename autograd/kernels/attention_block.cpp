#include "autograd/kernels/attention_block.hpp"

#include <limits>

#include "autograd/kernels/panel_product.hpp"
#include "autograd/kernels/transposed_copy.hpp"
#include "autograd/kernels/vector_math.hpp"

namespace weft {
namespace {

// Computes c = a · b + beta · c for b [k, n], without packing, because b is in the L1 cache.
template <class T>
void small_product(Index m, Index n, Index k, const MatrixView<T>& a, const T* b, Index b_stride,
                   T beta, T* c, Index c_stride) {
  Index j = 0;
  for (Index width; (width = panel_width<T>(n - j)) > 0; j += width)
    panel_product(m, Panel<T>{b + j, b_stride, k, width}, a, beta, c + j, c_stride);
  for (; j < n; ++j)
    for (Index i = 0; i < m; ++i) {
      T sum = beta == T{0} ? T{0} : beta * c[i * c_stride + j];
      for (Index p = 0; p < k; ++p) sum += *a.at(i, p).data * b[p * b_stride + j];
      c[i * c_stride + j] = sum;
    }
}

// Calls body(std::integral_constant) with the size in bytes of a vector of `width` lanes.
template <class T, Index bytes = AttentionBlock<T>::max_width * sizeof(T), class Body>
void with_bytes(Index width, const Body& body) {
  if constexpr (bytes > AttentionBlock<T>::min_width * static_cast<Index>(sizeof(T)))
    if (width < lanes<T, bytes>) return with_bytes<T, bytes / 2>(width, body);
  body(std::integral_constant<Index, bytes>());
}

// Sets p = softmax(p + bias) over the keys.
template <Index bytes, class T>
void softmax(Index keys, const T* bias, T* p) {
  using Lanes = Vector<T, bytes>;
  constexpr Index width = lanes<T, bytes>;
  constexpr T masked = -std::numeric_limits<T>::infinity();
  Lanes maximum = Lanes{} + masked;
  for (Index key = 0; key < keys; ++key) {
    const Lanes term = load<bytes>(bias + key * width);
    const Lanes sum = load<bytes>(p + key * width) + term;
    const Lanes score = term == masked ? term : sum;  // even if the sum is NaN
    store<T, bytes>(score, p + key * width);
    maximum = score > maximum ? score : maximum;
  }
  // A query with every key masked has weights of 0.
  const Lanes shift = maximum == masked ? Lanes{} : maximum;
  Lanes sum{};
  for (Index key = 0; key < keys; ++key) {
    const Lanes e = fast_exp(Lanes(load<bytes>(p + key * width) - shift));
    store<T, bytes>(e, p + key * width);
    sum += e;
  }
  const Lanes factor = sum == T{0} ? Lanes{} : T{1} / sum;
  for (Index key = 0; key < keys; ++key)
    store<T, bytes>(load<bytes>(p + key * width) * factor, p + key * width);
}

// Sets dp = dS = P (dP - <P, dP>) · scale.
template <Index bytes, class T>
void softmax_gradient(Index keys, T scale, const T* p, T* dp) {
  using Lanes = Vector<T, bytes>;
  constexpr Index width = lanes<T, bytes>;
  Lanes dot{};
  for (Index key = 0; key < keys; ++key)
    dot += load<bytes>(p + key * width) * load<bytes>(dp + key * width);
  for (Index key = 0; key < keys; ++key) {
    const Lanes weight = load<bytes>(p + key * width);
    const Lanes slope = scale * weight * (load<bytes>(dp + key * width) - dot);
    store<T, bytes>(weight == T{0} ? Lanes{} : slope, dp + key * width);
  }
}

}  // namespace

template <class T>
void AttentionBlock<T>::forward(T* p, T* y, T* scratch) const {
  const Index w = width();
  T* const q_lanes = scratch;
  copy_transposed(size, queries, scale, q, q_stride, q_lanes, w);
  panel_product(keys, Panel<T>{q_lanes, w, size, w}, {k, k_stride}, T{0}, p, w);
  with_bytes<T>(w, [&](auto bytes) { softmax<bytes()>(keys, bias, p); });
  const T* const dropped = drop(p, scratch);
  small_product(queries, value_size, keys, {dropped, w, true}, v, v_stride, T{0}, y, y_stride);
}

template <class T>
void AttentionBlock<T>::backward(const T* p, const T* dy, T* dq, T* dk, T* dv, T* dbias,
                                 T* scratch) const {
  const Index w = width();
  T* const dp = scratch;
  T* const dy_lanes = dp + keys * w;
  if (dv)
    small_product(keys, value_size, queries, {drop(p, dp), w}, dy, y_stride, T{1}, dv, y_stride);
  if (!dq && !dk && !dbias) return;
  copy_transposed(value_size, queries, T{1}, dy, y_stride, dy_lanes, w);
  panel_product(keys, Panel<T>{dy_lanes, w, value_size, w}, {v, v_stride}, T{0}, dp, w);
  drop(dp, dp);
  with_bytes<T>(w, [&](auto bytes) { softmax_gradient<bytes()>(keys, scale, p, dp); });
  if (dq) small_product(queries, size, keys, {dp, w, true}, k, k_stride, T{1}, dq, q_stride);
  if (dk) small_product(keys, size, queries, {dp, w}, q, q_stride, T{1}, dk, q_stride);
  if (!dbias) return;
  for (Index key = 0; key < keys; ++key)
    for (Index i = 0; i < queries; ++i) dbias[key - i] += dp[key * w + i] / scale;
}

// Returns the product of `x` and the dropout factors, in `to`, or x itself without dropout.
template <class T>
const T* AttentionBlock<T>::drop(const T* x, T* to) const {
  if (!dropout) return x;
  map_row(keys * width(), to, product, x, dropout);
  return to;
}

template struct AttentionBlock<float>;
template struct AttentionBlock<double>;

}  // namespace weft
