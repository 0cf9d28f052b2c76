// Name patterns: regular expressions that select parameters and layers by name.
#pragma once

#include <string>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/layers/name_filter.hpp"

namespace weft {

// Returns a filter that selects the names that the regular expression `pattern` matches as a whole:
// `matching("blocks\\.[01]\\..*")`. Expressions have Oniguruma's syntax, which has all that of
// ECMAScript: groups, classes, look-around, lazy and possessive quantifiers. Throws ValueError,
// starting with `what`, if `pattern` is no regular expression; the filter throws ValueError if a
// name takes too long to match.
WEFT_API NameFilter matching(const std::string& pattern, const std::string& what = "pattern");

// Returns a filter that selects the names that at least one of `patterns` matches as a whole, no
// names if `patterns` is empty. Throws the same exceptions as `matching`.
WEFT_API NameFilter matching_any(const std::vector<std::string>& patterns,
                                 const std::string& what = "pattern");

}  // namespace weft
