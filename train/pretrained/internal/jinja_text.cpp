#include "train/pretrained/internal/jinja_text.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <utility>
#include <vector>

#include "weft/autograd/error.hpp"
#include "weft/train/files/utf8.hpp"
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
  fail<ValueError>("chat template", str_cat("text without '", text, "' for ", what), "it");
}

// Those that have several characters in upper case.
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

enum class Cased { no, lower, upper, title };
Cased cased(char32_t code) {
  if (code < 0x80)
    return code >= 'a' && code <= 'z'   ? Cased::lower
           : code >= 'A' && code <= 'Z' ? Cased::upper
                                        : Cased::no;
  switch (category(code)) {
    case UTF8PROC_CATEGORY_LU:
      return Cased::upper;
    case UTF8PROC_CATEGORY_LL:
      return Cased::lower;
    case UTF8PROC_CATEGORY_LT:
      return Cased::title;
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_SO:
    case UTF8PROC_CATEGORY_MN:
      // Some of these count as cased.
      if (utf8proc_tolower(static_cast<utf8proc_int32_t>(code)) !=
              static_cast<utf8proc_int32_t>(code) ||
          utf8proc_toupper(static_cast<utf8proc_int32_t>(code)) !=
              static_cast<utf8proc_int32_t>(code) ||
          category(code) == UTF8PROC_CATEGORY_LM)
        fail_on_character(code, "a question of case");
      return Cased::no;
    default:
      if (code == U'ª' || code == U'º') return Cased::lower;
      return Cased::no;
  }
}

bool is_number(utf8proc_category_t own) {
  return is_in(own, UTF8PROC_CATEGORY_ND, UTF8PROC_CATEGORY_NO);
}
bool is_letter(utf8proc_category_t own) {
  return is_in(own, UTF8PROC_CATEGORY_LU, UTF8PROC_CATEGORY_LO);
}

bool is_of(char32_t code, Class wanted) {
  const utf8proc_category_t own = category(code);
  switch (wanted) {
    case Class::ascii:
      return code < 0x80;
    case Class::space:
      return is_space(code);
    case Class::printable:
      return is_printable(code);
    case Class::alpha:
      return is_letter(own);
    case Class::alnum:
      return is_letter(own) || is_number(own);
    case Class::decimal:
      return own == UTF8PROC_CATEGORY_ND;
    case Class::digit:
      if (own == UTF8PROC_CATEGORY_NO) fail_on_character(code, "isdigit");
      return own == UTF8PROC_CATEGORY_ND;
    case Class::numeric:
      if (own == UTF8PROC_CATEGORY_LO) fail_on_character(code, "isnumeric");
      return is_number(own);
  }
  return false;
}

bool ends_line(char32_t code) {
  return (code >= U'\n' && code <= U'\r') || (code >= 0x1C && code <= 0x1E) || code == 0x85 ||
         code == 0x2028 || code == 0x2029;
}

// The character before or after a place, which then is on its other side.
char32_t neighbour(std::string_view text, std::size_t& at, bool before) {
  if (!before) return next_code_point(text, at);
  do --at;
  while (!starts_character(text[at]));
  std::size_t begin = at;
  return next_code_point(text, begin);
}

// Appends the number as N hexadecimal digits.
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

bool is_printable(char32_t code) {
  const utf8proc_category_t own = category(code);
  return code == U' ' ||
         !(own == UTF8PROC_CATEGORY_CN || is_in(own, UTF8PROC_CATEGORY_ZS, UTF8PROC_CATEGORY_CO));
}

std::size_t space_at(std::string_view text) {
  std::size_t end = 0;
  for (std::size_t at = 0; at < text.size() && is_space(next_code_point(text, at));) end = at;
  return end;
}

std::string_view stripped(std::string_view text, bool left, bool right) {
  if (left) text.remove_prefix(space_at(text));
  for (std::size_t end = text.size();
       right && !text.empty() && is_space(neighbour(text, end, true));)
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

// By memmem, as the standard library's searches are quadratic for some texts.
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

void split(std::string_view text, std::string_view separator, std::size_t most, bool from_end,
           const Add& add) {
  // Reversed once, so that the search from the end takes linear time in all.
  const std::size_t size = text.size();
  std::string backwards, wanted;
  if (from_end && !separator.empty()) {
    backwards.assign(text.rbegin(), text.rend());
    wanted.assign(separator.rbegin(), separator.rend());
  }
  const auto find_last = [&](std::string_view rest) {
    const std::size_t at = find_in(backwards, wanted, size - rest.size());
    return at == rest.npos ? at : size - at - separator.size();
  };
  for (std::size_t count = 0;; ++count) {
    std::string_view part = text, rest;
    bool is_last = count == most;
    if (separator.empty()) {
      text = stripped(text, !from_end, from_end);
      if (text.empty()) return;
      std::size_t at = from_end ? text.size() : 0, next = at;
      while (!is_last && at != (from_end ? 0 : text.size()) &&
             !is_space(neighbour(text, next, from_end)))
        at = next;
      part = is_last ? text : from_end ? text.substr(at) : text.substr(0, at);
      rest = from_end ? text.substr(0, at) : text.substr(at);
    } else if (!is_last) {
      const std::size_t found = from_end ? find_last(text) : find_in(text, separator);
      is_last = found == text.npos;
      if (!is_last) {
        const std::string_view before = text.substr(0, found),
                               after = text.substr(found + separator.size());
        part = from_end ? after : before;
        rest = from_end ? before : after;
      }
    }
    add(part);
    if (is_last) return;
    text = rest;
  }
}

void split_lines(std::string_view text, bool keeps_ends, const Add& add) {
  for (std::size_t begin = 0, at = 0; at < text.size();) {
    const std::size_t end = at;
    const char32_t code = next_code_point(text, at);
    if (!ends_line(code) && at < text.size()) continue;
    if (code == U'\r' && at < text.size() && text[at] == '\n') ++at;
    add(text.substr(begin, (keeps_ends || !ends_line(code) ? at : end) - begin));
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
    // Nothing is found before each character, and at the end.
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
    begins = !first_only && cased(code) == Cased::no;
  }
  return result;
}

bool is_all(std::string_view text, Class wanted) {
  const bool holds_for_none = wanted == Class::ascii || wanted == Class::printable;
  for (std::size_t at = 0; at < text.size();)
    if (!is_of(next_code_point(text, at), wanted)) return false;
  return holds_for_none || !text.empty();
}

bool is_all_in_case(std::string_view text, Case form) {
  const Cased wanted = form == Case::lower ? Cased::lower : Cased::upper;
  bool has_some = false;
  for (std::size_t at = 0; at < text.size();) {
    const Cased own = cased(next_code_point(text, at));
    if (own != Cased::no && own != wanted) return false;
    has_some = has_some || own == wanted;
  }
  return has_some;
}

std::size_t count_words(std::string_view text) {
  std::size_t count = 0;
  bool was_in_word = false;
  for (std::size_t at = 0; at < text.size();) {
    const bool is_in_word = unicode::is_in_word(next_code_point(text, at));
    count += is_in_word && !was_in_word ? 1 : 0;
    was_in_word = is_in_word;
  }
  return count;
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
