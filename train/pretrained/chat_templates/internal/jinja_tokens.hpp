// The tokens of chat templates: text between tags, and the names, values and operators in tags.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace weft::jinja {

// A token of a template.
struct Token {
  // Data is text between tags. Signs are operators, brackets, "{{", "}}", "{%" and "%}".
  enum class Kind { data, name, integer, floating, string, sign, end };
  Kind kind;
  std::string text;   // the value, for a string
  std::size_t place;  // the position in the template
};

// Returns the template as Jinja reads it: lines end with "\n", and the last line end is removed.
std::string with_plain_lines(std::string_view text);

// Returns the tokens of a template with plain lines, without comments and without the white space
// that trim_blocks and lstrip_blocks remove. Throws ValueError, naming the line, for invalid
// tokens.
std::vector<Token> tokens_of(std::string_view text);

// Throws ValueError with the line and the text at `place`.
[[noreturn]] void fail_at(std::string_view text, std::size_t place, const std::string& expected);

}  // namespace weft::jinja
