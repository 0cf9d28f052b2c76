#include "examples/common/utf8.hpp"

#include <cstddef>
#include <cstdint>

#include <weft/autograd/error.hpp>

namespace weft::examples {
namespace {

// The length in bytes of the first character of `text`; 0 when it is invalid. The ranges are those
// of table 3-7 of the Unicode Standard, which exclude overlong forms and surrogates.
std::size_t character_length(std::string_view text) {
  const auto in_range = [text](std::size_t i, unsigned low, unsigned high) {
    if (i >= text.size()) return false;
    const auto byte = static_cast<std::uint8_t>(text[i]);
    return low <= byte && byte <= high;
  };
  const auto continues = [&](std::size_t i) { return in_range(i, 0x80, 0xBF); };
  if (in_range(0, 0x00, 0x7F)) return 1;
  if (in_range(0, 0xC2, 0xDF)) return continues(1) ? 2 : 0;
  if (in_range(0, 0xE0, 0xEF)) {
    const bool second = in_range(0, 0xE0, 0xE0)   ? in_range(1, 0xA0, 0xBF)
                        : in_range(0, 0xED, 0xED) ? in_range(1, 0x80, 0x9F)
                                                  : continues(1);
    return second && continues(2) ? 3 : 0;
  }
  if (in_range(0, 0xF0, 0xF4)) {
    const bool second = in_range(0, 0xF0, 0xF0)   ? in_range(1, 0x90, 0xBF)
                        : in_range(0, 0xF4, 0xF4) ? in_range(1, 0x80, 0x8F)
                                                  : continues(1);
    return second && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

}  // namespace

std::vector<std::string> utf8_characters(std::string_view text, const std::string& what) {
  std::vector<std::string> characters;
  characters.reserve(text.size());
  for (std::size_t position = 0; position < text.size();) {
    const std::size_t length = character_length(text.substr(position));
    if (length == 0)
      fail<ValueError>(what, "UTF-8 text",
                       concatenate_text("byte ", int{static_cast<std::uint8_t>(text[position])},
                                        " at position ", position));
    characters.emplace_back(text.substr(position, length));
    position += length;
  }
  return characters;
}

}  // namespace weft::examples
