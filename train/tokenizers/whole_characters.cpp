#include "weft/train/tokenizers/whole_characters.hpp"

#include <cstdint>
#include <utility>

namespace weft {
namespace {

constexpr std::string_view replacement = "\uFFFD";

// What may follow the first byte of a character (The Unicode Standard, table 3-7).
struct Form {
  std::size_t size;     // 0 for a byte that begins no character
  int lowest, highest;  // of the second byte; the others are 0x80 … 0xBF
};

Form form_of(int first) {
  if (first < 0x80) return {1, 0, 0};
  if (first < 0xC2 || first > 0xF4) return {0, 0, 0};
  if (first < 0xE0) return {2, 0x80, 0xBF};
  if (first < 0xF0) return {3, first == 0xE0 ? 0xA0 : 0x80, first == 0xED ? 0x9F : 0xBF};
  return {4, first == 0xF0 ? 0x90 : 0x80, first == 0xF4 ? 0x8F : 0xBF};
}

// The number of bytes at the start of a text that begin a character of this form, at most its size.
std::size_t valid_bytes(std::string_view text, const Form& form) {
  std::size_t count = 1;
  for (; count < form.size && count < text.size(); ++count) {
    const int byte = static_cast<std::uint8_t>(text[count]);
    if (byte < (count == 1 ? form.lowest : 0x80) || byte > (count == 1 ? form.highest : 0xBF))
      break;
  }
  return count;
}

}  // namespace

std::string WholeCharacters::add(std::string_view bytes) {
  held_ += bytes;
  std::string result;
  std::string_view rest = held_;
  while (!rest.empty()) {
    const Form form = form_of(static_cast<std::uint8_t>(rest.front()));
    const std::size_t count = valid_bytes(rest, form);
    if (count < form.size && count == rest.size()) break;
    result += count == form.size ? rest.substr(0, count) : replacement;
    rest.remove_prefix(count);
  }
  held_ = std::string(rest);
  return result;
}

std::string WholeCharacters::finish() {
  return std::exchange(held_, {}).empty() ? "" : std::string(replacement);
}

}  // namespace weft
