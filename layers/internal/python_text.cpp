#include "layers/internal/python_text.hpp"

#include <charconv>
#include <cmath>

namespace weft {

std::string python_text(bool value) { return value ? "True" : "False"; }

std::string python_text(double value) {
  char text[32];
  const double magnitude = std::abs(value);
  const bool scientific = magnitude != 0 && (magnitude < 1e-4 || magnitude >= 1e16);
  const auto format = scientific ? std::chars_format::scientific : std::chars_format::fixed;
  const auto [end, error] = std::to_chars(text, text + sizeof text, value, format);
  std::string result(text, end);
  // Python prints a float with a decimal point.
  if (!scientific && result.find('.') == std::string::npos) result += ".0";
  return result;
}

}  // namespace weft
