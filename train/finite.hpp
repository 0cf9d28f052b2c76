// Is every number finite?
#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include "autograd/error.hpp"
#include "autograd/tensor.hpp"

namespace weft {

// Throws NonFiniteError, naming `what` and the first element that is a NaN or an infinity.
template <class T>
void check_finite(const std::string& what, const Tensor<T>& tensor) {
  const auto found =
      std::find_if(tensor.begin(), tensor.end(), [](T value) { return !std::isfinite(value); });
  if (found != tensor.end())
    fail<NonFiniteError>(
        what, "finite numbers",
        concatenate_text(*found, " at element ", found - tensor.begin(), " of ", tensor.shape()));
}

}  // namespace weft
