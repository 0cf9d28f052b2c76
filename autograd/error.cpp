#include "weft/autograd/error.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace weft {
namespace {

// Ranges of code points, first and last: control characters, surrogates, code points beyond
// Unicode, and invisible format characters and line separators.
constexpr char32_t not_printable[][2] = {
    {0x0, 0x1f},      {0x7f, 0x9f},       {0xad, 0xad},        {0x61c, 0x61c},   {0x180e, 0x180e},
    {0x200b, 0x200f}, {0x2028, 0x202e},   {0x2060, 0x206f},    {0xd800, 0xdfff}, {0xfeff, 0xfeff},
    {0xfff9, 0xfffb}, {0xe0000, 0xe007f}, {0x110000, 0x1fffff}};

unsigned char byte_at(std::string_view text, std::size_t i) {
  return static_cast<unsigned char>(text[i]);
}

// Returns the size of the printable character at the start of a non-empty text, or 0 if the text
// does not start with one.
std::size_t printable_size(std::string_view text) {
  const unsigned char first = byte_at(text, 0);
  const auto ones = static_cast<std::size_t>(std::countl_one(first));
  const std::size_t size = std::max<std::size_t>(ones, 1);
  if (ones == 1 || ones > 4 || text.size() < size) return 0;
  char32_t code = first & (0x7f >> ones);
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte_at(text, i) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte_at(text, i) & 0x3f);
  }
  // An overlong encoding is not UTF-8.
  constexpr char32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const auto holds = [code](const auto& range) { return range[0] <= code && code <= range[1]; };
  return code < least[size] || std::ranges::any_of(not_printable, holds) ? 0 : size;
}

}  // namespace

std::string printable(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string result;
  while (!text.empty()) {
    const std::size_t size = printable_size(text);
    if (size > 0) {
      result += text.substr(0, size);
    } else {
      const unsigned char byte = byte_at(text, 0);
      ((result += "\\x") += digits[byte >> 4]) += digits[byte & 15];
    }
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return result;
}

Error::Error(std::string_view message) : std::runtime_error(printable(message)) {}

}  // namespace weft
