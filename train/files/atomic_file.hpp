// Files that are written whole or not at all.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace weft {

// Makes `contents` the contents of a file. They first go to `path` + ".saving" beside it, which
// takes the file's place in one step when everything is on disk; so `path` always names a whole
// file, the old one or the new one, also when the process is killed or the power fails. Throws
// FileError when the file cannot be written, is something else than a regular file, or is being
// saved by another process; the old file is then as it was.
void write_atomically(const std::filesystem::path& path, std::span<const std::byte> contents);

}  // namespace weft
