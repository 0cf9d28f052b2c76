// Code points of a text, and their Unicode categories.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace weft::unicode {

// The code point at byte `at` of valid UTF-8, where a character starts; `at` then is where the next
// one does.
char32_t next_code_point(std::string_view text, std::size_t& at);

// Appends a code point as UTF-8.
void append(std::string& text, char32_t code);

// The general categories L*, M*, N*, P* and Mn.
bool is_letter(char32_t code);
bool is_mark(char32_t code);
bool is_number(char32_t code);
bool is_punctuation(char32_t code);
bool is_nonspacing_mark(char32_t code);
// The categories Cc, Cf, Cs and Co: control, format, surrogate and private use, not unassigned.
bool is_control(char32_t code);
// The property White_Space: separators, tab to carriage return, and U+0085.
bool is_space(char32_t code);

// Canonical decomposition (NFD).
std::u32string decompose(std::u32string_view codes);

// The lower-case forms of the code points, each by itself, whatever its place in a word.
std::u32string lower_case(std::u32string_view codes);

}  // namespace weft::unicode
