// SIMD vectors, and loops over rows that use them.
// Included by definitions only.
#pragma once

#include <algorithm>
#include <limits>

#include "weft/autograd/shape.hpp"

namespace weft {

#if defined(__AVX512F__)
inline constexpr Index vector_bytes = 64;
#elif defined(__AVX__)
inline constexpr Index vector_bytes = 32;
#else
inline constexpr Index vector_bytes = 16;
#endif

// A vector of `bytes` bytes, in a register and, unaligned, in memory.
template <class T, Index bytes = vector_bytes>
struct VectorOf {
  typedef T type __attribute__((vector_size(bytes)));
  typedef T unaligned __attribute__((vector_size(bytes), aligned(alignof(T)), may_alias));
};
template <class T, Index bytes = vector_bytes>
using Vector = typename VectorOf<T, bytes>::type;

// The number of elements of a vector.
template <class T, Index bytes = vector_bytes>
constexpr Index lanes = bytes / static_cast<Index>(sizeof(T));

template <Index bytes = vector_bytes, class T>
Vector<T, bytes> load(const T* from) {
  return *reinterpret_cast<const typename VectorOf<T, bytes>::unaligned*>(from);
}
template <class T, Index bytes = vector_bytes>
void store(const Vector<T, bytes>& vector, T* to) {
  *reinterpret_cast<typename VectorOf<T, bytes>::unaligned*>(to) = vector;
}

// Selects lanes by number, where the lanes of `a` are followed by those of `b`.
template <Index... lane, class V>
V shuffle(const V& a, const V& b) {
#if __has_builtin(__builtin_shufflevector)
  return __builtin_shufflevector(a, b, lane...);
#else
  return __builtin_shuffle(a, b, decltype(a < b){lane...});
#endif
}

namespace detail {

template <Index bytes, class T, class Function, class... Rows>
void map_from(Index j, Index n, T* to, const Function& f, const Rows*... rows) {
  for (; j + lanes<T, bytes> <= n; j += lanes<T, bytes>)
    store<T, bytes>(f(load<bytes>(rows + j)...), to + j);
  if constexpr (bytes > 16)
    map_from<bytes / 2>(j, n, to, f, rows...);
  else
    for (; j < n; ++j) to[j] = f(rows[j]...);
}

// Reduces f(rows[j]...) for j ≤ i < n into `accumulator`, and then its lanes, half by half, to one
// number.
template <Index bytes, class T, class Combine, class Function, class... Rows>
T reduce_from(Index j, Index n, Vector<T, bytes> accumulator, const Combine& combine,
              const Function& f, const Rows*... rows) {
  for (; j + lanes<T, bytes> <= n; j += lanes<T, bytes>)
    accumulator = combine(accumulator, f(load<bytes>(rows + j)...));
  const T* lane_values = reinterpret_cast<const T*>(&accumulator);
  if constexpr (bytes > 16) {
    return reduce_from<bytes / 2, T>(
        j, n,
        combine(load<bytes / 2>(lane_values), load<bytes / 2>(lane_values + lanes<T, bytes / 2>)),
        combine, f, rows...);
  } else {
    T result = accumulator[0];
    for (Index lane = 1; lane < lanes<T, bytes>; ++lane)
      result = combine(result, accumulator[lane]);
    for (; j < n; ++j) result = combine(result, f(rows[j]...));
    return result;
  }
}

}  // namespace detail

// Functions for the loops over rows below: the identity and the product of two numbers. They are
// types with names, because a lambda in a header would be a different type in each file that
// includes it.
inline constexpr struct Identity {
  template <class Value>
  Value operator()(const Value& x) const {
    return x;
  }
} identity;
inline constexpr struct Product {
  template <class Value>
  Value operator()(const Value& x, const Value& y) const {
    return x * y;
  }
} product;

// Sets to[j] = f(rows[j]...) for 0 ≤ j < n. f is called with vectors and, for the last few
// elements, with numbers. `to` may be one of the rows.
template <class T, class Function, class... Rows>
void map_row(Index n, T* to, const Function& f, const Rows*... rows) {
  detail::map_from<vector_bytes>(0, n, to, f, rows...);
}

// Adds f(rows[j]...) to to[j], or sets to[j] = f(rows[j]...) if `overwrite`.
template <class T, class Function, class... Rows>
void accumulate_row(Index n, T* to, bool overwrite, const Function& f, const Rows*... rows) {
  if (overwrite) return map_row(n, to, f, rows...);
  const auto added = [&](const auto& sum, const auto&... terms) { return sum + f(terms...); };
  map_row(n, to, added, to, rows...);
}

// Returns Σ f(rows[j]...) over 0 ≤ j < n. f is called with vectors and numbers, as in map_row.
template <class T, class Function, class... Rows>
T sum_of_row(Index n, const Function& f, const T* row, const Rows*... rows) {
  const auto plus = [](const auto& a, const auto& b) { return a + b; };
  return detail::reduce_from<vector_bytes, T>(0, n, Vector<T>{}, plus, f, row, rows...);
}

// Returns the maximum of n numbers, ignoring NaN; -infinity if n is 0.
template <class T>
T row_maximum(const T* row, Index n) {
  const auto larger = [](const auto& a, const auto& b) { return b > a ? b : a; };
  return detail::reduce_from<vector_bytes, T>(
      0, n, Vector<T>{} - std::numeric_limits<T>::infinity(), larger, identity, row);
}

}  // namespace weft
