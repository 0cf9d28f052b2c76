// first_code_point: decodes UTF-8.
#pragma once

#include <cstddef>
#include <string_view>

namespace weft {

struct CodePoint {
  char32_t code;
  std::size_t bytes;  // 0 when they are no valid UTF-8
};

// The code point at the start of a text that is not empty.
CodePoint first_code_point(std::string_view text);

}  // namespace weft
