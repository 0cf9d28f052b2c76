// Comparisons of tensors.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include <weft/autograd/tensor.hpp>

namespace weft {

// The largest |actual - expected|, divided by the largest |expected| or, if larger, by `unit`.
// Infinite for different shapes and for NaN.
template <class A, class B>
double distance(const Tensor<A>& actual, const Tensor<B>& expected, double unit = 0.0) {
  if (actual.shape() != expected.shape()) return std::numeric_limits<double>::infinity();
  double difference = 0.0, scale = unit;
  for (Index i = 0; i < actual.size(); ++i) {
    const auto a = static_cast<double>(actual.data()[i]);
    const auto e = static_cast<double>(expected.data()[i]);
    if (std::isnan(a) || std::isnan(e)) return std::numeric_limits<double>::infinity();
    difference = std::max(difference, std::abs(a - e));
    scale = std::max(scale, std::abs(e));
  }
  return difference == 0.0 ? 0.0 : difference / scale;
}

// True when the tensors have the same shape and equal elements.
template <class T>
bool same(const Tensor<T>& a, const Tensor<T>& b) {
  return a.shape() == b.shape() && std::equal(a.begin(), a.end(), b.begin());
}

}  // namespace weft
