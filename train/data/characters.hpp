// UTF-8 texts: read from files, and split into characters.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "weft/autograd/export.hpp"

namespace weft {

// Throws ValueError, starting with `what` and giving the position of the byte, if `text` is not
// valid UTF-8.
WEFT_API void check_utf8(std::string_view text, const std::string& what);

// The characters (code points) of `text`, each as UTF-8. Throws as `check_utf8` does.
WEFT_API std::vector<std::string> utf8_characters(std::string_view text, const std::string& what);

// The contents of a text file, without a byte-order mark. Throws FileError for a file that cannot
// be read, is empty or is not UTF-8.
WEFT_API std::string read_text(const std::filesystem::path& path);

}  // namespace weft
