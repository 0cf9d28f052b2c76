// check_json: checks that a string is JSON that all parsers understand in the same way.
#pragma once

#include <string_view>

#include "weft/autograd/export.hpp"

namespace weft {

// Throws ValueError unless `text` is a single JSON value in UTF-8 (RFC 8259), nested at most 100
// levels deep, without repeated names in an object and without numbers that exceed the range of a
// double.
//   check_json(R"({"lr": 0.1})");  // before parsing with any JSON parser
WEFT_API void check_json(std::string_view text);

}  // namespace weft
