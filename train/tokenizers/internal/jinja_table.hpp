// Tables of signatures by name.
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <string_view>

#include "train/tokenizers/internal/jinja_functions.hpp"

namespace weft::jinja {

using Table = std::map<std::string, Signature, std::less<>>;

// A row may have several names, with spaces between them.
Table table_of(std::initializer_list<Signature> rows);
// Null if there is none.
const Signature* found_in(const Table& table, std::string_view name);

// The argument `what` as a parameter's type. Throws ValueError for one of another type.
Value converted(Run& run, Value value, char type, const std::string& what);

}  // namespace weft::jinja
