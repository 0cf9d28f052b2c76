// Classes of ASCII characters. Unlike the functions of <cctype>, they do not depend on the locale.
#pragma once

namespace weft {

constexpr bool is_ascii_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_ascii_letter(char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; }
constexpr bool is_hexadecimal(char c) {
  return is_ascii_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

}  // namespace weft
