// Python's string operations, on valid UTF-8: characters are code points.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <string_view>

namespace weft::jinja {

std::u32string code_points(std::string_view text);
std::string utf8(std::u32string_view characters);

// str.isspace() of one character.
bool is_space(char32_t code);

// The number of bytes of white space at the beginning of a string.
std::size_t space_at(std::string_view text);
// str.strip(), lstrip() and rstrip().
std::string_view stripped(std::string_view text, bool left = true, bool right = true);
// str.strip(characters), and so on.
std::string stripped(std::string_view text, std::string_view characters, bool left, bool right);

inline constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();
using Add = std::function<void(std::string_view)>;
// Calls `add` for each part of str.split, at most `most` times and for the rest; at white space if
// the separator is empty.
void split(std::string_view text, std::string_view separator, std::size_t most, const Add& add);
// Calls `add` for each line of str.splitlines().
void split_lines(std::string_view text, const Add& add);

// str.find and rfind in bytes, in linear time.
std::size_t find_in(std::string_view text, std::string_view part, std::size_t from = 0);
std::size_t find_last_in(std::string_view text, std::string_view part);
// str.count.
std::size_t count_of(std::string_view text, std::string_view part);

// str.replace, at most `most` times.
std::string replaced(std::string_view text, std::string_view old, std::string_view other,
                     std::size_t most);

enum class Case { lower, upper, title };
// str.lower, upper and title of a character at the beginning of a word. Throw ValueError for the
// characters that become several, or of which the form depends on others.
void append_in_case(std::string& text, char32_t code, Case form);
std::string in_case(std::string_view text, Case form);
// str.title(), and with `first_only` str.capitalize().
std::string in_title_case(std::string_view text, bool first_only);

// repr(text), and as a JSON string.
std::string quoted_as_python(std::string_view text);
std::string quoted_as_json(std::string_view text, bool only_ascii);
// repr(number).
std::string number_text(double number);

}  // namespace weft::jinja
