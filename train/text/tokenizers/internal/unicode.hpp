// Code points of a text, and what they are.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "weft/autograd/export.hpp"

namespace weft::unicode {

// The code point at byte `at` of valid UTF-8, where a character starts; `at` then is where the next
// one does.
WEFT_API char32_t next_code_point(std::string_view text, std::size_t& at);

// Appends a code point as UTF-8.
WEFT_API void append(std::string& text, char32_t code);

// The property White_Space.
WEFT_API bool is_space(char32_t code);
// \w as Rust's regular expressions define it: letters, marks, digits, connectors such as "_", and
// joiners.
WEFT_API bool is_in_word(char32_t code);

// Returns the number of bytes of valid UTF-8 without the spaces at its end.
std::size_t end_without_spaces(std::string_view text);

// The lower-case forms of the characters, each by itself, whatever its place in a word.
WEFT_API std::string lower_case(std::string_view text);

// The normal forms of a text: canonical or compatible, decomposed or composed again.
enum class Form { nfd, nfc, nfkd, nfkc };
std::string normal_form(std::string_view text, Form form);

}  // namespace weft::unicode
