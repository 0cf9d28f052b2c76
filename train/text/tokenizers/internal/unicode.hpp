// Code points and their Unicode properties.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "weft/autograd/export.hpp"

namespace weft::unicode {

// Returns the code point that starts at byte `at` of valid UTF-8, and moves `at` to the next code
// point.
WEFT_API char32_t next_code_point(std::string_view text, std::size_t& at);

// Appends a code point as UTF-8.
WEFT_API void append(std::string& text, char32_t code);

// Whether a code point has the property White_Space.
WEFT_API bool is_space(char32_t code);
// Whether \w of Rust's regular expressions matches: letters, marks, digits, connectors such as "_",
// and joiners.
WEFT_API bool is_in_word(char32_t code);

// Returns the number of bytes of valid UTF-8 without the spaces at its end.
std::size_t end_without_spaces(std::string_view text);

// Returns the text in lower case. Each character is converted independently of its neighbours.
WEFT_API std::string lower_case(std::string_view text);

// The Unicode normal forms: canonical or compatible (k), decomposed (d) or composed (c).
enum class Form { nfd, nfc, nfkd, nfkc };
// Returns a text in a normal form.
std::string normal_form(std::string_view text, Form form);

}  // namespace weft::unicode
