#include "train/pretrained/chat_templates/internal/jinja_text.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <utility>
#include <vector>

#include "weft/autograd/error.hpp"
#include "weft/train/files/utf8.hpp"
#include "train/files/internal/ascii.hpp"
#include "train/text/tokenizers/internal/unicode.hpp"

namespace weft::jinja {
namespace {

using unicode::next_code_point;

utf8proc_category_t category(char32_t code) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(code));
}

bool is_in(utf8proc_category_t own, utf8proc_category_t first, utf8proc_category_t last) {
  return first <= own && own <= last;
}

[[noreturn]] void fail_on_character(char32_t code, const char* what) {
  std::string text;
  unicode::append(text, code);
  fail<ValueError>("chat template", str_cat("no character with special rules for ", what),
                   str_cat('\'', text, '\''));
}

// Returns whether a character becomes several characters in upper case.
bool expands_in_upper_case(char32_t code) {
  constexpr std::array<std::pair<char32_t, char32_t>, 9> ranges = {{{0xDF, 0xDF},
                                                                    {0x149, 0x149},
                                                                    {0x1F0, 0x1F0},
                                                                    {0x390, 0x390},
                                                                    {0x3B0, 0x3B0},
                                                                    {0x587, 0x587},
                                                                    {0x1E96, 0x1E9A},
                                                                    {0x1F50, 0x1FFF},
                                                                    {0xFB00, 0xFB17}}};
  return std::ranges::any_of(
      ranges, [&](const auto& range) { return range.first <= code && code <= range.second; });
}

// Returns whether a character has a case. For str.title(), a word continues after such a character.
bool is_cased(char32_t code) {
  if (code < 0x80) return is_ascii_letter(static_cast<char>(code));
  const auto own = static_cast<utf8proc_int32_t>(code);
  switch (category(code)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
      return true;
    case UTF8PROC_CATEGORY_LM:
      fail_on_character(code, "a question of case");
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_SO:
    case UTF8PROC_CATEGORY_MN:
      // Some characters of these categories are cased.
      if (utf8proc_tolower(own) != own || utf8proc_toupper(own) != own)
        fail_on_character(code, "a question of case");
      return false;
    default:
      return code == U'ª' || code == U'º';
  }
}

bool ends_line(char32_t code) {
  return (code >= U'\n' && code <= U'\r') || (code >= 0x1C && code <= 0x1E) || code == 0x85 ||
         code == 0x2028 || code == 0x2029;
}

// Returns the character before `at`, and moves `at` to its start.
char32_t previous_code_point(std::string_view text, std::size_t& at) {
  do --at;
  while (!starts_character(text[at]));
  std::size_t begin = at;
  return next_code_point(text, begin);
}

// Returns str.isprintable() of a character.
bool is_printable(char32_t code) {
  const utf8proc_category_t own = category(code);
  return code == U' ' ||
         !(own == UTF8PROC_CATEGORY_CN || is_in(own, UTF8PROC_CATEGORY_ZS, UTF8PROC_CATEGORY_CO));
}

// Appends a prefix and a number with this many hexadecimal digits.
void append_hex(std::string& text, const char* prefix, char32_t code, int digits) {
  text += prefix;
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4)
    text += "0123456789abcdef"[code >> shift & 0xFU];
}

}  // namespace

std::u32string code_points(std::string_view text) {
  std::u32string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) result += next_code_point(text, at);
  return result;
}

std::string utf8(std::u32string_view characters) {
  std::string text;
  for (const char32_t code : characters) unicode::append(text, code);
  return text;
}

bool is_space(char32_t code) { return unicode::is_space(code) || (code >= 0x1C && code <= 0x1F); }

std::size_t space_at(std::string_view text) {
  std::size_t end = 0;
  for (std::size_t at = 0; at < text.size() && is_space(next_code_point(text, at));) end = at;
  return end;
}

std::string_view stripped(std::string_view text, bool left, bool right) {
  if (left) text.remove_prefix(space_at(text));
  for (std::size_t end = text.size();
       right && !text.empty() && is_space(previous_code_point(text, end));)
    text = text.substr(0, end);
  return text;
}

std::string stripped(std::string_view text, std::string_view characters, bool left, bool right) {
  const std::u32string all = code_points(text), set = code_points(characters);
  std::u32string_view rest = all;
  if (left) rest.remove_prefix(std::min(rest.find_first_not_of(set), rest.size()));
  if (right) rest = rest.substr(0, rest.find_last_not_of(set) + 1);
  return utf8(rest);
}

// Uses memmem, because the standard library's searches take quadratic time for some texts.
std::size_t find_in(std::string_view text, std::string_view part, std::size_t from) {
  if (from > text.size()) return text.npos;
  const void* const found =
      memmem(text.data() + from, text.size() - from, part.data(), part.size());
  return found ? static_cast<std::size_t>(static_cast<const char*>(found) - text.data())
               : text.npos;
}

std::size_t find_last_in(std::string_view text, std::string_view part) {
  const std::string backwards(text.rbegin(), text.rend()), wanted(part.rbegin(), part.rend());
  const std::size_t at = find_in(backwards, wanted, 0);
  return at == text.npos ? at : text.size() - at - part.size();
}

void split(std::string_view text, std::string_view separator, std::size_t most, const Add& add) {
  for (std::size_t count = 0;; ++count) {
    std::size_t end = text.size(), next = end;
    if (separator.empty()) {
      text.remove_prefix(space_at(text));
      if (text.empty()) return;
      end = next = text.size();
      if (count < most)
        for (std::size_t at = 0; at < text.size();) {
          const std::size_t begin = at;
          if (!is_space(next_code_point(text, at))) continue;
          end = begin;
          next = at;
          break;
        }
    } else if (count < most) {
      end = std::min(find_in(text, separator), text.size());
      next = std::min(end + separator.size(), text.size());
    }
    add(text.substr(0, end));
    if (end == text.size()) return;
    text.remove_prefix(next);
  }
}

void split_lines(std::string_view text, const Add& add) {
  for (std::size_t begin = 0, at = 0; at < text.size();) {
    const std::size_t end = at;
    const char32_t code = next_code_point(text, at);
    if (!ends_line(code) && at < text.size()) continue;
    if (code == U'\r' && at < text.size() && text[at] == '\n') ++at;
    add(text.substr(begin, (ends_line(code) ? end : at) - begin));
    begin = at;
  }
}

std::size_t count_of(std::string_view text, std::string_view part) {
  if (part.empty()) return count_characters(text) + 1;
  std::size_t count = 0;
  for (std::size_t at = 0; (at = find_in(text, part, at)) != text.npos; at += part.size()) ++count;
  return count;
}

std::string replaced(std::string_view text, std::string_view old, std::string_view other,
                     std::size_t most) {
  std::string result;
  std::size_t at = 0;
  for (std::size_t count = 0; count < most; ++count) {
    const std::size_t found = find_in(text, old, at);
    if (found == text.npos) break;
    // An empty string is found before each character and at the end.
    std::size_t next = found + old.size();
    result += text.substr(at, found - at);
    result += other;
    if (old.empty()) {
      if (found == text.size()) return result;
      next_code_point(text, next);
      result += text.substr(found, next - found);
    }
    at = next;
  }
  return result += text.substr(at);
}

void append_in_case(std::string& text, char32_t code, Case form) {
  const auto own = static_cast<utf8proc_int32_t>(code);
  if (code < 0x80) {
    const bool changes =
        form == Case::lower ? code >= 'A' && code <= 'Z' : code >= 'a' && code <= 'z';
    text += static_cast<char>(changes ? code ^ 0x20U : code);
  } else if (form == Case::lower) {
    if (code == U'Σ') fail_on_character(code, "lower case");
    text += unicode::lower_case(utf8({&code, 1}));
  } else {
    if (expands_in_upper_case(code)) fail_on_character(code, "upper case");
    unicode::append(text, static_cast<char32_t>(form == Case::upper ? utf8proc_toupper(own)
                                                                    : utf8proc_totitle(own)));
  }
}

std::string in_case(std::string_view text, Case form) {
  std::string result;
  for (std::size_t at = 0; at < text.size();)
    append_in_case(result, next_code_point(text, at), form);
  return result;
}

std::string in_title_case(std::string_view text, bool first_only) {
  std::string result;
  bool begins = true;
  for (std::size_t at = 0; at < text.size();) {
    const char32_t code = next_code_point(text, at);
    append_in_case(result, code, begins ? Case::title : Case::lower);
    begins = !first_only && !is_cased(code);
  }
  return result;
}

std::string quoted_as_python(std::string_view text) {
  const bool has_single = text.find('\'') != text.npos;
  const char quote = has_single && text.find('"') == text.npos ? '"' : '\'';
  std::string result(1, quote);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    const char32_t code = next_code_point(text, at);
    if (code == static_cast<char32_t>(quote) || code == U'\\')
      (result += '\\') += static_cast<char>(code);
    else if (code == U'\n' || code == U'\r' || code == U'\t')
      (result += '\\') += code == U'\n' ? 'n' : code == U'\r' ? 'r' : 't';
    else if (is_printable(code))
      result += text.substr(begin, at - begin);
    else
      append_hex(result,
                 code < 0x100     ? "\\x"
                 : code < 0x10000 ? "\\u"
                                  : "\\U",
                 code,
                 code < 0x100     ? 2
                 : code < 0x10000 ? 4
                                  : 8);
  }
  return result += quote;
}

std::string quoted_as_json(std::string_view text, bool only_ascii) {
  constexpr std::string_view special = "\"\\\n\r\t\f\b", letters = "\"\\nrtfb";
  std::string result = "\"";
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    const char32_t code = next_code_point(text, at);
    if (code < 0x80 && special.find(static_cast<char>(code)) != special.npos) {
      (result += '\\') += letters[special.find(static_cast<char>(code))];
    } else if (code < 0x20 || (only_ascii && code > 0x7E)) {
      if (code < 0x10000) {
        append_hex(result, "\\u", code, 4);
      } else {
        append_hex(result, "\\u", 0xD800 + ((code - 0x10000) >> 10), 4);
        append_hex(result, "\\u", 0xDC00 + ((code - 0x10000) & 0x3FFU), 4);
      }
    } else {
      result += text.substr(begin, at - begin);
    }
  }
  return result += '"';
}

std::string number_text(double number) {
  std::array<char, 400> buffer;
  const auto written = [&](std::chars_format format) {
    return std::string(buffer.begin(),
                       std::to_chars(buffer.begin(), buffer.end(), number, format).ptr);
  };
  const std::string scientific = written(std::chars_format::scientific);
  const int exponent = std::stoi(scientific.substr(scientific.find('e') + 1));
  constexpr int smallest = -4, largest = 16;
  if (exponent < smallest || exponent >= largest) return scientific;
  const std::string fixed = written(std::chars_format::fixed);
  return fixed.find('.') == fixed.npos ? fixed + ".0" : fixed;
}

}  // namespace weft::jinja
