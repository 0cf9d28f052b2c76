#include "train/tokenizers/internal/unicode.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <array>

#include "weft/autograd/error.hpp"
#include "train/data/internal/code_point.hpp"

namespace weft::unicode {
namespace {

utf8proc_category_t category(char32_t code) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(code));
}

bool is_between(utf8proc_category_t first, char32_t code, utf8proc_category_t last) {
  const utf8proc_category_t own = category(code);
  return first <= own && own <= last;
}

}  // namespace

char32_t next_code_point(std::string_view text, std::size_t& at) {
  const auto [code, bytes] = first_code_point(text.substr(at));
  if (bytes == 0) fail<ValueError>("next_code_point", "UTF-8 text", "another byte");
  at += bytes;
  return code;
}

void append(std::string& text, char32_t code) {
  std::array<utf8proc_uint8_t, 4> bytes;
  const utf8proc_ssize_t size =
      utf8proc_encode_char(static_cast<utf8proc_int32_t>(code), bytes.data());
  text.append(bytes.begin(), bytes.begin() + size);
}

bool is_letter(char32_t code) {
  return is_between(UTF8PROC_CATEGORY_LU, code, UTF8PROC_CATEGORY_LO);
}

bool is_mark(char32_t code) { return is_between(UTF8PROC_CATEGORY_MN, code, UTF8PROC_CATEGORY_ME); }

bool is_number(char32_t code) {
  return is_between(UTF8PROC_CATEGORY_ND, code, UTF8PROC_CATEGORY_NO);
}

bool is_punctuation(char32_t code) {
  return is_between(UTF8PROC_CATEGORY_PC, code, UTF8PROC_CATEGORY_PO);
}

bool is_nonspacing_mark(char32_t code) { return category(code) == UTF8PROC_CATEGORY_MN; }

bool is_control(char32_t code) {
  return is_between(UTF8PROC_CATEGORY_CC, code, UTF8PROC_CATEGORY_CO);
}

bool is_space(char32_t code) {
  return is_between(UTF8PROC_CATEGORY_ZS, code, UTF8PROC_CATEGORY_ZP) ||
         (code >= U'\t' && code <= U'\r') || code == U'\u0085';
}

std::u32string decompose(std::u32string_view codes) {
  std::u32string result;
  result.reserve(codes.size());
  // No code point has a longer canonical decomposition than four.
  std::array<utf8proc_int32_t, 8> parts;
  for (const char32_t code : codes) {
    int boundary = 0;
    const utf8proc_ssize_t size =
        utf8proc_decompose_char(static_cast<utf8proc_int32_t>(code), parts.data(), parts.size(),
                                UTF8PROC_DECOMPOSE, &boundary);
    for (utf8proc_ssize_t part = 0; part < size; ++part)
      result.push_back(static_cast<char32_t>(parts[static_cast<std::size_t>(part)]));
  }
  // Canonical order: marks after a character stand in the order of their combining classes.
  const auto combining_class = [](char32_t code) {
    return utf8proc_get_property(static_cast<utf8proc_int32_t>(code))->combining_class;
  };
  for (auto begin = result.begin(); begin != result.end();) {
    const auto end =
        std::find_if(begin, result.end(), [&](char32_t c) { return combining_class(c) == 0; });
    std::stable_sort(begin, end, [&](char32_t a, char32_t b) {
      return combining_class(a) < combining_class(b);
    });
    begin = end == result.end() ? end : end + 1;
  }
  return result;
}

std::u32string lower_case(std::u32string_view codes) {
  std::u32string result;
  result.reserve(codes.size());
  for (const char32_t code : codes) {
    result.push_back(static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(code))));
    // The only code point whose lower-case form is two.
    if (code == U'İ') result.push_back(U'\u0307');
  }
  return result;
}

}  // namespace weft::unicode
