// Python's string operations for valid UTF-8. Characters are code points.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <string_view>

namespace weft::jinja {

std::u32string code_points(std::string_view text);
std::string utf8(std::u32string_view characters);

// Returns str.isspace() of a character.
bool is_space(char32_t code);

// Returns the number of bytes of white space at the start of a string.
std::size_t space_at(std::string_view text);
// Returns str.strip(), lstrip() or rstrip().
std::string_view stripped(std::string_view text, bool left = true, bool right = true);
// Returns str.strip(characters), lstrip(characters) or rstrip(characters).
std::string stripped(std::string_view text, std::string_view characters, bool left, bool right);

inline constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();
using Add = std::function<void(std::string_view)>;
// Calls `add` for each part of str.split: at most `most` parts, and the rest. Splits at white space
// if the separator is empty.
void split(std::string_view text, std::string_view separator, std::size_t most, const Add& add);
// Calls `add` for each line of str.splitlines().
void split_lines(std::string_view text, const Add& add);

// Return str.find and str.rfind as byte offsets, in linear time.
std::size_t find_in(std::string_view text, std::string_view part, std::size_t from = 0);
std::size_t find_last_in(std::string_view text, std::string_view part);
// Returns str.count.
std::size_t count_of(std::string_view text, std::string_view part);

// Returns str.replace with at most `most` replacements.
std::string replaced(std::string_view text, std::string_view old, std::string_view other,
                     std::size_t most);

// The forms of a character: str.lower, str.upper and, at the start of a word, str.title.
enum class Case { lower, upper, title };
// Append or return text in a form. Throw ValueError for characters whose form consists of several
// characters or depends on other characters.
void append_in_case(std::string& text, char32_t code, Case form);
std::string in_case(std::string_view text, Case form);
// Returns str.title(), or str.capitalize() if `first_only`.
std::string in_title_case(std::string_view text, bool first_only);

// Return repr(text), and the text as a JSON string.
std::string quoted_as_python(std::string_view text);
std::string quoted_as_json(std::string_view text, bool only_ascii);
// Returns repr(number).
std::string number_text(double number);

}  // namespace weft::jinja
