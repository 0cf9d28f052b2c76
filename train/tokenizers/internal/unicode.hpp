// Code points of a text, and their Unicode categories.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace weft::unicode {

// The code points of `text`. Throws ValueError, starting with `what` and giving the position of
// the byte, if `text` is not valid UTF-8.
std::u32string code_points(std::string_view text, const std::string& what);

// The code point at byte `at` of valid UTF-8, where a character starts; `at` then is where the next
// one does.
char32_t next_code_point(std::string_view text, std::size_t& at);

// Appends a code point as UTF-8.
void append(std::string& text, char32_t code);
// The code points as UTF-8.
std::string utf8(std::u32string_view codes);

// The general categories L*, N*, P*, Mn, and C* (control, format, surrogate, private use and
// unassigned code points).
bool is_letter(char32_t code);
bool is_number(char32_t code);
bool is_punctuation(char32_t code);
bool is_nonspacing_mark(char32_t code);
bool is_other(char32_t code);
// The property White_Space: separators, tab to carriage return, and U+0085.
bool is_space(char32_t code);

// Canonical decomposition (NFD).
std::u32string decompose(std::u32string_view codes);

// The lower-case form of a code point, which is itself for those that have none.
char32_t lower_case(char32_t code);

}  // namespace weft::unicode
