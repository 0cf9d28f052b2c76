// check_json: whether a text is JSON that every reader understands alike.
#pragma once

#include <string_view>

#include "weft/autograd/export.hpp"

namespace weft {

// Throws ValueError unless `text` is one JSON value in UTF-8 (RFC 8259) of at most 100 levels,
// whose objects have each name once and whose numbers fit into a double. Nothing may follow the
// value.
//   check_json(text);  // before any parser of JSON
WEFT_API void check_json(std::string_view text);

}  // namespace weft
