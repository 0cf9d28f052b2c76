// file_contents: reads a whole file.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace weft {

// Nothing when there is no such file. Throws FileError when it is not a regular file, which
// includes pipes that nobody writes to, or cannot be read.
std::optional<std::string> file_contents(const std::filesystem::path& path);

}  // namespace weft
