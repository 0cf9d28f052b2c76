#include "train/text/tokenizers/internal/character_table.hpp"

#include <utf8proc.h>

#include "weft/autograd/error.hpp"
#include "train/text/tokenizers/internal/unicode.hpp"

namespace weft {
namespace {

[[noreturn]] void fail_on_table(const char* got) {
  fail<ValueError>("precompiled_charsmap", "a table of characters in base64", got);
}

std::string decoded(std::string_view base64) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  while (base64.ends_with('=')) base64.remove_suffix(1);
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : base64) {
    const std::size_t digit = digits.find(c);
    if (digit == digits.npos) fail_on_table("a character that is not base64");
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xFF);
  }
  return bytes;
}

std::uint32_t number_at(std::string_view bytes, std::size_t at) {
  std::uint32_t number = 0;
  for (std::size_t i = 4; i-- > 0;) number = number << 8 | static_cast<std::uint8_t>(bytes[at + i]);
  return number;
}

}  // namespace

CharacterTable::CharacterTable(std::string_view base64) {
  const std::string bytes = decoded(base64);
  if (bytes.size() < 4) fail_on_table("incomplete data");
  const std::uint32_t tree_bytes = number_at(bytes, 0);
  if (tree_bytes % 4 != 0 || tree_bytes > bytes.size() - 4) fail_on_table("truncated data");
  for (std::size_t at = 4; at < 4 + std::size_t{tree_bytes}; at += 4)
    tree_.push_back(number_at(bytes, at));
  replacements_ = bytes.substr(4 + tree_bytes);
}

// The table is Darts-clone's double array. An inner unit contains its label in bits 0 to 7 (and
// 31), whether it has a leaf in bit 8, and the offset of its children in the other bits. A leaf
// contains its value.
bool CharacterTable::append_mapped(std::string_view text, std::string& result) const {
  const auto offset = [](std::uint32_t unit) { return unit >> 10 << ((unit & (1U << 9)) >> 6); };
  if (tree_.empty()) return false;
  std::size_t at = offset(tree_[0]);
  for (const char c : text) {
    const auto byte = static_cast<std::uint8_t>(c);
    at ^= byte;
    if (byte == 0 || at >= tree_.size() || (tree_[at] & 0x800000FFU) != byte) return false;
    const std::uint32_t unit = tree_[at];
    at ^= offset(unit);
    if ((unit >> 8 & 1) == 0) continue;
    // The shortest prefix of the text that the table contains determines the replacement of the
    // text.
    const std::size_t begin = at < tree_.size() ? tree_[at] & 0x7FFFFFFFU : replacements_.size();
    if (begin >= replacements_.size()) fail_on_table("damaged data");
    result += replacements_.substr(begin, replacements_.find('\0', begin) - begin);
    return true;
  }
  return false;
}

std::string CharacterTable::mapped(std::string_view text, TextBudget& budget) const {
  std::string result;
  const auto append_character = [&](std::string_view character) {
    if (!append_mapped(character, result)) result += character;
  };
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t size = result.size();
    // Finds the end of the grapheme.
    std::size_t end = begin;
    char32_t last = unicode::next_code_point(text, end);
    utf8proc_int32_t state = 0;
    for (std::size_t next = end; next < text.size(); end = next) {
      const char32_t code = unicode::next_code_point(text, next);
      if (utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(last),
                                           static_cast<utf8proc_int32_t>(code), &state))
        break;
      last = code;
    }
    const std::string_view grapheme = text.substr(begin, end - begin);
    constexpr std::size_t longest = 6;  // as in Hugging Face's library
    if (grapheme.size() >= longest || !append_mapped(grapheme, result))
      for (std::size_t at = 0; at < grapheme.size();) {
        const std::size_t character = at;
        unicode::next_code_point(grapheme, at);
        append_character(grapheme.substr(character, at - character));
      }
    budget.replace(end - begin, result.size() - size);
    begin = end;
  }
  return result;
}

}  // namespace weft
