// Name patterns: regular expressions that select parameters and layers by name.
#pragma once

#include <string>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/layers/name_filter.hpp"

namespace weft {

// Returns a filter that selects the names that match the whole regular expression `pattern`, for
// example `matching("blocks\\.[01]\\..*")`. The syntax is Oniguruma's. It includes ECMAScript's
// syntax: groups, classes, look-around, lazy and possessive quantifiers. Throws ValueError,
// starting with `what`, if `pattern` is not a regular expression. The filter throws ValueError if a
// name takes too long to match.
WEFT_API NameFilter matching(const std::string& pattern, const std::string& what = "pattern");

// Returns a filter that selects the names that match the whole of at least one of `patterns`. If
// `patterns` is empty, it selects nothing. Throws the same exceptions as `matching`.
WEFT_API NameFilter matching_any(const std::vector<std::string>& patterns,
                                 const std::string& what = "pattern");

}  // namespace weft
