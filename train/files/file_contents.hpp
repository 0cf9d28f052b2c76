// file_contents: reads a whole file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>

namespace weft {

// Nothing when there is no such file. Throws FileError when it is not a regular file, which
// includes pipes that nobody writes to, has more than `max_bytes`, or cannot be read.
std::optional<std::string> file_contents(
    const std::filesystem::path& path,
    std::uintmax_t max_bytes = std::numeric_limits<std::uintmax_t>::max());

}  // namespace weft
