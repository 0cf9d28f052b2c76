// UTF-8: text as a list of characters.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weft::examples {

// The characters (code points) of `text`, each as UTF-8. Throws ValueError, opening with `what` and
// naming the byte's position, where `text` is not UTF-8.
std::vector<std::string> utf8_characters(std::string_view text, const std::string& what);

}  // namespace weft::examples
