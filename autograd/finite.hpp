// Searches for numbers that are NaN or infinite.
#pragma once

#include <cmath>
#include <limits>
#include <span>
#include <string>

#include "weft/autograd/error.hpp"
#include "weft/autograd/tensor.hpp"

namespace weft {

// True when all n values are finite.
template <class T>
bool all_finite(const T* values, Index n) {
  int found = 0;
#pragma omp simd reduction(| : found)
  for (Index i = 0; i < n; ++i) found |= !(std::abs(values[i]) <= std::numeric_limits<T>::max());
  return found == 0;
}

// The position of the first NaN or infinity; -1 when all values are finite.
template <class T>
Index first_non_finite(std::span<const T> values) {
  if (all_finite(values.data(), std::ssize(values))) return -1;
  Index i = 0;
  while (std::isfinite(values[static_cast<std::size_t>(i)])) ++i;
  return i;
}

// Throws NonFiniteError, naming `what`, the first NaN or infinity and its position, when there is
// one.
template <class T>
void check_finite(const std::string& what, const Tensor<T>& tensor) {
  if (const Index i = first_non_finite(tensor.values()); i >= 0)
    fail<NonFiniteError>(what, "finite numbers",
                         concatenate_text(tensor.data()[i], " at ", tensor.shape().position(i),
                                          " of ", tensor.shape()));
}

}  // namespace weft
