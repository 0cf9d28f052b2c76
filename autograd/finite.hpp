// Searches for NaN and infinity.
#pragma once

#include <span>
#include <string>

#include "weft/autograd/export.hpp"
#include "weft/autograd/tensor.hpp"

namespace weft {

// Returns true if all n values are finite.
template <class T>
WEFT_API bool all_finite(const T* values, Index n);

// Returns the position of the first NaN or infinity, or -1 if all values are finite.
template <class T>
WEFT_API Index first_non_finite(std::span<const T> values);

// Checks a tensor of any shape. Throws NonFiniteError if it contains a NaN or infinity; the message
// starts with `what` and contains the first such element and its position.
template <class T>
WEFT_API void check_finite(const std::string& what, const Tensor<T>& tensor);

}  // namespace weft
