// The names that are most like another one, to propose them in an error.
#pragma once

#include <string>
#include <vector>

namespace weft {

// Up to three of the names, by increasing number of inserted, deleted and replaced parts between
// dots, then characters.
std::vector<std::string> nearest_names(const std::string& name,
                                       const std::vector<std::string>& names);

}  // namespace weft
