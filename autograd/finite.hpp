// Searches for numbers that are NaN or infinite.
#pragma once

#include <span>
#include <string>

#include "weft/autograd/export.hpp"
#include "weft/autograd/tensor.hpp"

namespace weft {

// True when all n values are finite.
template <class T>
WEFT_API bool all_finite(const T* values, Index n);

// The position of the first NaN or infinity; -1 when all values are finite.
template <class T>
WEFT_API Index first_non_finite(std::span<const T> values);

// Searches a tensor of any shape. Throws NonFiniteError, naming `what`, the first NaN or infinity
// and its position, when there is one.
template <class T>
WEFT_API void check_finite(const std::string& what, const Tensor<T>& tensor);

}  // namespace weft
