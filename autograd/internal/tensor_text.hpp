// tensor_text: prints tensors in PyTorch's format.
#pragma once

#include <string>

#include "weft/autograd/shape.hpp"

namespace weft {

// Returns "tensor([[1., 2.]])" for elements of this shape in row-major order, as PyTorch prints
// them with its default options. Appends the shape if the elements do not show it, the type unless
// it is float (or bool), and "op=…" unless `operation` is null.
template <class T>
std::string tensor_text(const Shape& shape, const T* elements, const char* operation = nullptr);

}  // namespace weft
