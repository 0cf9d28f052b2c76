// Helpers for writing operations: Eigen maps of ranges of elements, and sums over ranges.
// Included by definitions only, never by another header of weft.
#pragma once

#include <Eigen/Core>
#include <array>
#include <numeric>

#include "weft/autograd/operation.hpp"

namespace weft {

template <class T>
using Array = Eigen::Map<Eigen::Array<std::remove_const_t<T>, Eigen::Dynamic, 1>>;
template <class T>
using ConstArray = Eigen::Map<const Eigen::Array<std::remove_const_t<T>, Eigen::Dynamic, 1>>;

// Returns elements [begin, end) as an Eigen array.
template <class T>
Array<T> array(T* data, Index begin, Index end) {
  return {data + begin, end - begin};
}
template <class T>
ConstArray<T> array(const T* data, Index begin, Index end) {
  return {data + begin, end - begin};
}
template <class T>
Array<T> array(Tensor<T>& tensor, Index begin, Index end) {
  return array(tensor.data(), begin, end);
}
template <class T>
ConstArray<T> array(const Tensor<T>& tensor, Index begin, Index end) {
  return array(tensor.data(), begin, end);
}

// Returns a tensor as a fresh gradient: kernels that add to gradients then overwrite it.
template <class T>
Gradient<T> as_fresh_gradient(Tensor<T>& tensor) {
  return {tensor.values(), true, true};
}

// Adds an Eigen expression to elements [begin, end) of a gradient, or overwrites them if it is
// fresh.
template <class T, class Expression>
void accumulate(const Gradient<T>& gradient, Index begin, Index end, const Expression& expression) {
  if (gradient.fresh)
    array(gradient.data(), begin, end) = expression;
  else
    array(gradient.data(), begin, end) += expression;
}

// Returns Σ body(begin, end) over ranges that cover [0, count). Each range except the last has at
// least `grain_of(cost)` items. The terms are added in order, so the result has the same bits on
// any number of threads.
template <class Body>
double sum_of_ranges(Index count, Index cost, const Body& body) {
  constexpr Index max_ranges = 64;
  std::array<double, max_ranges> sums{};
  const Index grain = std::max<Index>(grain_of(cost), (count + max_ranges - 1) / max_ranges);
  parallel_for(count, grain, [&](Index begin, Index end) {
    sums[static_cast<std::size_t>(begin / grain)] = body(begin, end);
  });
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

}  // namespace weft
