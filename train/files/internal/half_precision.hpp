// Conversions between float and 16-bit numbers: IEEE 754's binary16 (float16) and bfloat16.
#pragma once

#include <cstdint>

#include "autograd/internal/bfloat16.hpp"

namespace weft {

// Return the number that 16 bits represent.
float float_of_float16(std::uint16_t bits);

// Return the bits of the nearest 16-bit number, with ties to even. Values beyond the largest number
// become infinite.
std::uint16_t float16_of(float value);

}  // namespace weft
