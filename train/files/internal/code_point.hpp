// first_code_point: decodes UTF-8.
#pragma once

#include <utf8proc.h>

#include <cstddef>
#include <string_view>

namespace weft {

struct CodePoint {
  char32_t code;
  std::size_t bytes;  // 0 if they are not valid UTF-8
};

// Returns the code point at the start of a nonempty string.
inline CodePoint first_code_point(std::string_view text) {
  utf8proc_int32_t code = 0;
  const utf8proc_ssize_t bytes =
      utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                       static_cast<utf8proc_ssize_t>(text.size()), &code);
  if (bytes <= 0) return {0, 0};
  return {static_cast<char32_t>(code), static_cast<std::size_t>(bytes)};
}

}  // namespace weft
