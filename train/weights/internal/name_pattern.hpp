// Patterns of names, such as "head.*", and their parts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weft {

// Returns whether the whole name has the form of the pattern, in which '*' stands for any text,
// also for none.
bool matches_pattern(std::string_view pattern, std::string_view name);

// Returns whether a name has the form of one of the patterns.
bool is_one_of(const std::vector<std::string>& patterns, std::string_view name);

// The parts of a text between separators; none of an empty text.
std::vector<std::string_view> split(std::string_view text, char separator);

}  // namespace weft
