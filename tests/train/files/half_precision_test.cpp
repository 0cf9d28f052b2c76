#include "train/files/internal/half_precision.hpp"

#include <cmath>
#include <limits>

#include "tests/catch.hpp"

namespace weft {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

}  // namespace

TEST_CASE("float16: all numbers are converted to float and back", "[train]") {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float value = float_of_float16(half);
    if (std::isnan(value))
      CHECK(std::isnan(float_of_float16(float16_of(value))));
    else if (float16_of(value) != half)
      FAIL_CHECK("float16 of bits " << bits);
  }
}

TEST_CASE("bfloat16: all numbers are converted to float and back", "[train]") {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float value = float_of_bfloat16(half);
    if (std::isnan(value))
      CHECK(std::isnan(float_of_bfloat16(bfloat16_of(value))));
    else if (bfloat16_of(value) != half)
      FAIL_CHECK("bfloat16 of bits " << bits);
  }
}

// IEEE 754-2019, table 3.5: 11 bits of precision, exponents -14 … 15.
TEST_CASE("float16: values of the standard", "[train]") {
  for (const auto& [bits, value] : {std::pair<std::uint16_t, float>{0x3C00, 1.0f},
                                    {0xC000, -2.0f},
                                    {0x7BFF, 65504.0f},
                                    {0x0400, 0x1p-14f},
                                    {0x0001, 0x1p-24f},
                                    {0x03FF, 1023 * 0x1p-24f},
                                    {0x3555, 0.333251953125f},
                                    {0x7C00, infinity},
                                    {0xFC00, -infinity}}) {
    CHECK(float_of_float16(bits) == value);
    CHECK(float16_of(value) == bits);
  }
}

TEST_CASE("float16 and bfloat16: halfway values are rounded to even", "[train]") {
  for (unsigned bits = 0; bits < 0x7BFF; ++bits) {
    const auto low = static_cast<std::uint16_t>(bits), high = static_cast<std::uint16_t>(bits + 1);
    const float halfway = 0.5f * (float_of_float16(low) + float_of_float16(high));
    const std::uint16_t even = bits % 2 == 0 ? low : high;
    if (float16_of(halfway) != even || float16_of(-halfway) != (even | 0x8000) ||
        float16_of(std::nextafter(halfway, infinity)) != high ||
        float16_of(std::nextafter(halfway, -infinity)) != low)
      FAIL_CHECK("between float16 " << bits << " and the next");
  }
  for (unsigned bits = 0x0080; bits < 0x7F7F; ++bits) {
    const auto low = static_cast<std::uint16_t>(bits), high = static_cast<std::uint16_t>(bits + 1);
    const float halfway = static_cast<float>(
        0.5 * (double{float_of_bfloat16(low)} + double{float_of_bfloat16(high)}));
    const std::uint16_t even = bits % 2 == 0 ? low : high;
    if (bfloat16_of(halfway) != even || bfloat16_of(std::nextafter(halfway, infinity)) != high ||
        bfloat16_of(std::nextafter(halfway, -infinity)) != low)
      FAIL_CHECK("between bfloat16 " << bits << " and the next");
  }
}

TEST_CASE("float16 and bfloat16: numbers beyond the largest become infinite", "[train]") {
  CHECK(float16_of(65519.99f) == 0x7BFF);
  CHECK(float16_of(65520.0f) == 0x7C00);
  CHECK(float16_of(1e30f) == 0x7C00);
  CHECK(bfloat16_of(3.3e38f) == 0x7F78);
  CHECK(bfloat16_of(std::numeric_limits<float>::max()) == 0x7F80);
}

}  // namespace weft
