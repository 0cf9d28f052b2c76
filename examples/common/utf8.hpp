// utf8_characters: splits text into characters.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weft::examples {

// The characters (code points) of `text`, each as UTF-8. Throws ValueError, starting with `what`
// and giving the position of the byte, if `text` is not valid UTF-8.
std::vector<std::string> utf8_characters(std::string_view text, const std::string& what);

}  // namespace weft::examples
