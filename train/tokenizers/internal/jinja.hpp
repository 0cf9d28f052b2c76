// Jinja: the part of the template language that chat templates use.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace weft::jinja {

// Throws ValueError, naming the line, for a text that is no template.
void check(std::string_view text);

// The text that a template gives, without the lines and spaces around blocks, as in transformers
// (trim_blocks, lstrip_blocks). Throws as `check` does, and ValueError for what is not defined, for
// raise_exception, and for more than 20 million steps or
// 64 MiB of values.
std::string render(std::string_view text, const nlohmann::ordered_json& variables);

}  // namespace weft::jinja
