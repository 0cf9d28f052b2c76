// Patterns of names, such as "head.*".
#pragma once

#include <string_view>

namespace weft {

// Returns whether the whole name has the form of the pattern, in which '*' stands for any text,
// also for none.
bool matches_pattern(std::string_view pattern, std::string_view name);

}  // namespace weft
