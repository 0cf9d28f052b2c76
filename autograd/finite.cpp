#include "weft/autograd/finite.hpp"

#include <cmath>
#include <limits>

#include "weft/autograd/error.hpp"

namespace weft {

template <class T>
bool all_finite(const T* values, Index n) {
  int found = 0;
#pragma omp simd reduction(| : found)
  for (Index i = 0; i < n; ++i) found |= !(std::abs(values[i]) <= std::numeric_limits<T>::max());
  return found == 0;
}

template <class T>
Index first_non_finite(std::span<const T> values) {
  if (all_finite(values.data(), std::ssize(values))) return -1;
  Index i = 0;
  while (std::isfinite(values[static_cast<std::size_t>(i)])) ++i;
  return i;
}

template <class T>
void check_finite(const std::string& what, const Tensor<T>& tensor) {
  if (const Index i = first_non_finite(tensor.values()); i >= 0)
    fail<NonFiniteError>(
        what, "finite numbers",
        str_cat(tensor.data()[i], " at ", tensor.shape().position(i), " of ", tensor.shape()));
}

template bool all_finite(const float*, Index);
template bool all_finite(const double*, Index);
template Index first_non_finite(std::span<const float>);
template Index first_non_finite(std::span<const double>);
template void check_finite(const std::string&, const Tensor<float>&);
template void check_finite(const std::string&, const Tensor<double>&);

}  // namespace weft
