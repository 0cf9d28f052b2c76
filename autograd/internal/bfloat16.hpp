// Conversions between float and bfloat16, the upper 16 bits of a float.
#pragma once

#include <bit>
#include <cstdint>

#include "weft/autograd/shape.hpp"

namespace weft {

inline float float_of_bfloat16(std::uint16_t bits) {
  return std::bit_cast<float>(std::uint32_t{bits} << 16);
}

// Rounds to the nearest bfloat16, ties to even. Values beyond the largest become infinity; NaN
// remains NaN.
inline std::uint16_t bfloat16_of(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7FFFFFFF) > 0x7F800000) return static_cast<std::uint16_t>(bits >> 16 | 0x40);
  return static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

template <class T>
void widen_bfloat16(Index n, const std::uint16_t* from, T* to) {
  for (Index i = 0; i < n; ++i) to[i] = static_cast<T>(float_of_bfloat16(from[i]));
}

// Rounds n numbers as bfloat16_of does, but subnormal floats possibly to zero.
template <class T>
void round_to_bfloat16(Index n, const T* from, std::uint16_t* to) {
  for (Index i = 0; i < n; ++i) to[i] = bfloat16_of(static_cast<float>(from[i]));
}
void round_to_bfloat16(Index n, const float* from, std::uint16_t* to);

}  // namespace weft
