// The tokens of chat templates: texts, tags, and what stands in these.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace weft::jinja {

struct Token {
  // Data is text between tags. Signs are operators, brackets, "{{", "}}", "{%" and "%}".
  enum class Kind { data, name, integer, floating, string, sign, end };
  Kind kind;
  std::string text;   // of a string, its value
  std::size_t place;  // in the template
};

// Returns the template with "\n" at the ends of lines, without the last one, as Jinja reads it.
std::string with_plain_lines(std::string_view text);

// Returns the tokens of such a template, without comments and without the white space around tags
// that transformers omits (trim_blocks, lstrip_blocks). Throws ValueError, naming the line.
std::vector<Token> tokens_of(std::string_view text);

// Throws ValueError for that place.
[[noreturn]] void fail_at(std::string_view text, std::size_t place, const std::string& expected);

}  // namespace weft::jinja
