// Elementary functions that compilers vectorize when called in a loop; fast_exp also takes vectors.
// Included by definitions only.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace weft {
namespace detail {

// Computes fast_exp of a number or a vector V of numbers; `Integers` has the same size.
template <class V, class Integers>
V exponential(const V& x) {
  constexpr float log2_e = 1.44269504F, ln2_high = 0.693359375F, ln2_low = -2.12194440e-4F;
  constexpr float lowest = -87.3365F, highest = 88.3762F;
  // Adding and subtracting 1.5 · 2^23 rounds to the nearest integer.
  constexpr float rounder = 12582912.0F;
  const V not_low = x < lowest ? lowest : x;
  const V bounded = not_low > highest ? highest : not_low;
  const V shifted = bounded * log2_e + rounder;
  const V n = shifted - rounder;
  const V r = (bounded - n * ln2_high) - n * ln2_low;
  V p = 1.9875691500e-4F * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  p = p * r * r + r + 1.0F;
  // The low bits of `shifted` hold the integer n; shifted left, it is the exponent of 2^n.
  const Integers exponent = (std::bit_cast<Integers>(shifted) - 0x4B400000 + 127) << 23;
  const V y = p * std::bit_cast<V>(exponent);
  return x < lowest ? 0.0F : y;
}

}  // namespace detail

// Returns e^x to within 2 units in the last place for -87.3 ≤ x ≤ 88.3, 0 below and 2.4e38 above
// this range, and NaN for NaN. Uses e^x = 2^n e^r with |r| ≤ ln 2 / 2, where e^r is a Taylor-like
// minimax polynomial.
inline float fast_exp(float x) { return detail::exponential<float, std::int32_t>(x); }
inline double fast_exp(double x) { return std::exp(x); }
template <class V>
V fast_exp(const V& x) {
  if constexpr (sizeof(x[0]) == sizeof(float)) {
    return detail::exponential<V, decltype(x > x)>(x);
  } else {
    V y = x;
    for (std::size_t i = 0; i < sizeof(V) / sizeof(x[0]); ++i) y[i] = std::exp(x[i]);
    return y;
  }
}

// Returns tanh x to within 1e-7.
inline float fast_tanh(float x) {
  const float a = std::abs(x);
  // Near 0, 1 - e^-2a cancels; the first terms of the Taylor series are accurate enough there.
  const float square = x * x;
  const float series =
      x + x * square * (-0.333333333F + square * (0.133333333F - square * 0.0539682540F));
  const float e = fast_exp(-2.0F * a);
  const float direct = std::copysign((1.0F - e) / (1.0F + e), x);
  return a < 0.125F ? series : direct;
}
inline double fast_tanh(double x) { return std::tanh(x); }

// Returns the error function of x to within 4e-7 (Abramowitz and Stegun, 7.1.26), and exactly in
// double. `gaussian` is e^-x².
inline float fast_erf(float x, float gaussian) {
  // erf x = 1 - (polynomial in t) e^-x², t = 1 / (1 + p x), for x ≥ 0.
  const float a = std::abs(x);
  const float t = 1.0F / (1.0F + 0.3275911F * a);
  float p = 1.061405429F;
  p = p * t - 1.453152027F;
  p = p * t + 1.421413741F;
  p = p * t - 0.284496736F;
  p = p * t + 0.254829592F;
  const float direct = std::copysign(1.0F - p * t * gaussian, x);
  const float square = x * x;
  const float series =
      1.12837917F * x * (1.0F - square * (0.333333333F - square * (0.1F - square * 0.0238095238F)));
  return a < 0.25F ? series : direct;
}
inline double fast_erf(double x, double) { return std::erf(x); }

}  // namespace weft
