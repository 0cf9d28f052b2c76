#include "train/text/tokenizers/internal/unicode.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <utility>

#include "weft/autograd/error.hpp"
#include "weft/train/files/utf8.hpp"
#include "train/files/internal/code_point.hpp"

namespace weft::unicode {
namespace {

bool is_ascii(char byte) { return static_cast<signed char>(byte) >= 0; }

utf8proc_category_t category(char32_t code) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(code));
}

}  // namespace

char32_t next_code_point(std::string_view text, std::size_t& at) {
  if (is_ascii(text[at])) return static_cast<char32_t>(text[at++]);
  const auto [code, bytes] = first_code_point(text.substr(at));
  if (bytes == 0) fail<ValueError>("next_code_point", "UTF-8 text", "an invalid byte");
  at += bytes;
  return code;
}

void append(std::string& text, char32_t code) {
  if (code < 0x80) {
    text += static_cast<char>(code);
    return;
  }
  std::array<utf8proc_uint8_t, 4> bytes;
  const utf8proc_ssize_t size =
      utf8proc_encode_char(static_cast<utf8proc_int32_t>(code), bytes.data());
  text.append(bytes.begin(), bytes.begin() + size);
}

bool is_space(char32_t code) {
  const utf8proc_category_t own = category(code);
  return (UTF8PROC_CATEGORY_ZS <= own && own <= UTF8PROC_CATEGORY_ZP) ||
         (code >= U'\t' && code <= U'\r') || code == U'\u0085';
}

bool is_in_word(char32_t code) {
  const utf8proc_category_t own = category(code);
  if ((UTF8PROC_CATEGORY_LU <= own && own <= UTF8PROC_CATEGORY_NL) || own == UTF8PROC_CATEGORY_PC)
    return true;
  // Joiners, and circled and squared letters.
  constexpr std::pair<char32_t, char32_t> others[] = {{0x200C, 0x200D},
                                                      {0x24B6, 0x24E9},
                                                      {0x1F130, 0x1F149},
                                                      {0x1F150, 0x1F169},
                                                      {0x1F170, 0x1F189}};
  return std::ranges::any_of(
      others, [&](const auto& range) { return range.first <= code && code <= range.second; });
}

std::size_t end_without_spaces(std::string_view text) {
  std::size_t end = text.size();
  while (end > 0) {
    std::size_t last = end - 1;
    while (last > 0 && !starts_character(text[last])) --last;
    std::size_t next = last;
    if (!is_space(next_code_point(text, next))) break;
    end = last;
  }
  return end;
}

std::string lower_case(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const char32_t code = next_code_point(text, at);
    append(result, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(code))));
    // The only code point whose lower-case form consists of two.
    if (code == U'İ') append(result, U'\u0307');
  }
  return result;
}

std::string normal_form(std::string_view text, Form form) {
  // ASCII is the same in all forms.
  if (std::ranges::all_of(text, is_ascii)) return std::string(text);
  const bool composes = form == Form::nfc || form == Form::nfkc;
  const bool is_compatible = form == Form::nfkd || form == Form::nfkc;
  const int options = (composes ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE) |
                      (is_compatible ? UTF8PROC_COMPAT : 0) | UTF8PROC_STABLE;
  utf8proc_uint8_t* mapped = nullptr;
  const utf8proc_ssize_t size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                             static_cast<utf8proc_ssize_t>(text.size()), &mapped,
                                             static_cast<utf8proc_option_t>(options));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owned(mapped, &std::free);
  if (size < 0) fail<ValueError>("text", "UTF-8", utf8proc_errmsg(size));
  return std::string(mapped, mapped + size);
}

}  // namespace weft::unicode
