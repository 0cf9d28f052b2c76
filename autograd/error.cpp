#include "weft/autograd/error.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace weft {
namespace {

// Characters of one form in UTF-8: their first byte lies in first … last, and their second one in
// second_least … second_most.
struct Utf8Form {
  unsigned char first, last, size, second_least, second_most;
};

// Without control characters: those below 0x20, 0x7f, and U+0080 … U+009F.
constexpr std::array<Utf8Form, 10> printable_forms{{
    {0x20, 0x7e, 1, 0, 0},
    {0xc2, 0xc2, 2, 0xa0, 0xbf},
    {0xc3, 0xdf, 2, 0x80, 0xbf},
    {0xe0, 0xe0, 3, 0xa0, 0xbf},
    {0xe1, 0xec, 3, 0x80, 0xbf},
    {0xed, 0xed, 3, 0x80, 0x9f},  // no surrogates
    {0xee, 0xef, 3, 0x80, 0xbf},
    {0xf0, 0xf0, 4, 0x90, 0xbf},
    {0xf1, 0xf3, 4, 0x80, 0xbf},
    {0xf4, 0xf4, 4, 0x80, 0x8f},  // up to U+10FFFF
}};

// Format characters, which are invisible, and separators of lines: first and last.
constexpr char32_t format_characters[][2] = {
    {0xad, 0xad},     {0x61c, 0x61c},   {0x180e, 0x180e}, {0x200b, 0x200f},  {0x2028, 0x202e},
    {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f}};

unsigned char byte_at(std::string_view text, std::size_t i) {
  return static_cast<unsigned char>(text[i]);
}

// The size of the printable character at the start of a text that is not empty; 0 if there is none.
std::size_t printable_size(std::string_view text) {
  const unsigned char first = byte_at(text, 0);
  const auto form =
      std::find_if(printable_forms.begin(), printable_forms.end(),
                   [&](const Utf8Form& f) { return f.first <= first && first <= f.last; });
  if (form == printable_forms.end() || text.size() < form->size) return 0;
  if (form->size == 1) return 1;
  if (byte_at(text, 1) < form->second_least || byte_at(text, 1) > form->second_most) return 0;
  char32_t code = first & (0x7f >> form->size);
  for (std::size_t i = 1; i < form->size; ++i) {
    if ((byte_at(text, i) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte_at(text, i) & 0x3f);
  }
  const bool is_format = std::ranges::any_of(format_characters, [code](const auto& range) {
    return range[0] <= code && code <= range[1];
  });
  return is_format ? 0 : form->size;
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
