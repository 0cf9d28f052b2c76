// png_of: draws weights as a PNG image.
#pragma once

#include <string>

#include "weft/autograd/tensor.hpp"

namespace weft {

// Returns a PNG image of weights [rows, columns] from 0 (black) to 1 (white). Each weight is a
// square of `cell` pixels.
std::string png_of(const Tensor<float>& weights, Index cell);

}  // namespace weft
