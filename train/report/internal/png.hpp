// png_of: a picture of weights as a PNG file.
#pragma once

#include <string>

#include "weft/autograd/tensor.hpp"

namespace weft {

// Of weights [rows, columns] in 0 … 1, each `cell` pixels wide and high: black for 0, white for 1.
std::string png_of(const Tensor<float>& weights, Index cell);

}  // namespace weft
