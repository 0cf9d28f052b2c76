// utf8_characters: splits a text into characters.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "weft/autograd/export.hpp"

namespace weft {

// The characters (code points) of `text`, each as UTF-8. Throws ValueError, starting with `what`
// and giving the position of the byte, if `text` is not valid UTF-8.
WEFT_API std::vector<std::string> utf8_characters(std::string_view text, const std::string& what);

}  // namespace weft
