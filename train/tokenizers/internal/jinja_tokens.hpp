// The tokens of chat templates: texts, tags, and what stands in these.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace weft::jinja {

struct Token {
  // Text is what is written as it is. Signs are operators, brackets and the ends of tags: "{{",
  // "}}", "{%", "%}"; the last token is "".
  enum class Kind { text, name, number, string, sign };
  Kind kind;
  std::string text;   // of a string, what it stands for
  std::size_t place;  // in the template
};

// The tokens of a template, without comments and without the lines and spaces around blocks that
// transformers omits (trim_blocks, lstrip_blocks). Throws ValueError, naming the line, for what is
// no token.
std::vector<Token> tokens_of(std::string_view text);

// Throws ValueError for that place.
[[noreturn]] void fail_at(std::string_view text, std::size_t place, const std::string& expected);

}  // namespace weft::jinja
