// Vectors of numbers that the processor works on together, and loops over rows made of them.
// Included by definitions only.
#pragma once

#include <algorithm>
#include <limits>

#include "weft/autograd/shape.hpp"

namespace weft {

#if defined(__AVX512F__)
constexpr Index vector_bytes = 64;
#elif defined(__AVX__)
constexpr Index vector_bytes = 32;
#else
constexpr Index vector_bytes = 16;
#endif

// `bytes` of numbers, in a register and anywhere in memory.
template <class T, Index bytes = vector_bytes>
struct VectorOf {
  typedef T type __attribute__((vector_size(bytes)));
  typedef T unaligned __attribute__((vector_size(bytes), aligned(alignof(T)), may_alias));
};
template <class T, Index bytes = vector_bytes>
using Vector = typename VectorOf<T, bytes>::type;

// How many numbers a vector has.
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

// Folds f(rows[j]...) for j … n into `so_far` and its lanes into one number, halves first.
template <Index bytes, class T, class Fold, class Function, class... Rows>
T fold_from(Index j, Index n, Vector<T, bytes> so_far, const Fold& fold, const Function& f,
            const Rows*... rows) {
  for (; j + lanes<T, bytes> <= n; j += lanes<T, bytes>)
    so_far = fold(so_far, f(load<bytes>(rows + j)...));
  const T* parts = reinterpret_cast<const T*>(&so_far);
  if constexpr (bytes > 16) {
    return fold_from<bytes / 2, T>(
        j, n, fold(load<bytes / 2>(parts), load<bytes / 2>(parts + lanes<T, bytes / 2>)), fold, f,
        rows...);
  } else {
    T result = so_far[0];
    for (Index lane = 1; lane < lanes<T, bytes>; ++lane) result = fold(result, so_far[lane]);
    for (; j < n; ++j) result = fold(result, f(rows[j]...));
    return result;
  }
}

}  // namespace detail

// Functions for rows as they are, and for the products of two.
constexpr auto same = [](const auto& x) { return x; };
constexpr auto product = [](const auto& x, const auto& y) { return x * y; };

// to[j] = f(rows[j]...) for 0 … n - 1. f is called with vectors and, for the last few, with
// numbers. `to` may be one of the rows.
template <class T, class Function, class... Rows>
void map_row(Index n, T* to, const Function& f, const Rows*... rows) {
  detail::map_from<vector_bytes>(0, n, to, f, rows...);
}

// to[j] += f(rows[j]...), or to[j] = f(rows[j]...) where what `to` holds is to be overwritten.
template <class T, class Function, class... Rows>
void accumulate_row(Index n, T* to, bool overwrite, const Function& f, const Rows*... rows) {
  if (overwrite) return map_row(n, to, f, rows...);
  const auto added = [&](const auto& sum, const auto&... terms) { return sum + f(terms...); };
  map_row(n, to, added, to, rows...);
}

// Σ f(rows[j]...) over 0 … n - 1; f as for map_row.
template <class T, class Function, class... Rows>
T sum_of_row(Index n, const Function& f, const T* row, const Rows*... rows) {
  const auto plus = [](const auto& a, const auto& b) { return a + b; };
  return detail::fold_from<vector_bytes, T>(0, n, Vector<T>{}, plus, f, row, rows...);
}

// The largest of n numbers, NaN passed over; -infinity when there are none.
template <class T>
T row_maximum(const T* row, Index n) {
  const auto larger = [](const auto& a, const auto& b) { return b > a ? b : a; };
  return detail::fold_from<vector_bytes, T>(0, n, Vector<T>{} - std::numeric_limits<T>::infinity(),
                                            larger, same, row);
}

}  // namespace weft
