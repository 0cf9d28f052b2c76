#include "train/files/internal/half_precision.hpp"

#include <bit>

namespace weft {
namespace {

constexpr int mantissa_bits = 10;  // in float16; float has 13 more
constexpr std::uint32_t infinity = 0x7F800000;

}  // namespace

float float_of_float16(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000u) << 16;
  const std::uint32_t exponent = bits >> mantissa_bits & 0x1F;
  const std::uint32_t mantissa = bits & 0x3FFu;
  if (exponent == 0) {  // zero or subnormal: a multiple of 2^-24
    const float value = static_cast<float>(mantissa) * 0x1p-24f;
    return sign ? -value : value;
  }
  // The biases are 15 and 127.
  const std::uint32_t wide = exponent == 0x1F ? infinity : (exponent + 112) << 23;
  return std::bit_cast<float>(sign | wide | mantissa << 13);
}

std::uint16_t float16_of(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000);
  const std::uint32_t magnitude = bits & 0x7FFFFFFF;
  if (magnitude > infinity) return static_cast<std::uint16_t>(sign | 0x7E00);
  if (magnitude >= std::bit_cast<std::uint32_t>(65520.0f))  // rounds beyond the largest, 65504
    return static_cast<std::uint16_t>(sign | 0x7C00);
  if (magnitude < std::bit_cast<std::uint32_t>(0x1p-14f)) {
    // The result is subnormal. Adding 1/2 rounds it to a multiple of 2^-24, in the last bits.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<std::uint16_t>(
        sign | (std::bit_cast<std::uint32_t>(shifted) - std::bit_cast<std::uint32_t>(0.5f)));
  }
  const std::uint32_t rounding = 0xFFF + (magnitude >> 13 & 1);
  return static_cast<std::uint16_t>(sign |
                                    ((magnitude + rounding - (std::uint32_t{112} << 23)) >> 13));
}

}  // namespace weft
