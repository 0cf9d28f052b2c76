// write_atomically: replaces a file as a whole or not at all.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace weft {

// Writes `contents` to a file. They are first written to `path` + ".saving", which is renamed to
// `path` when everything is on disk; so `path` always names a complete file, the old one or the new
// one, also when the process is killed or the power fails. Throws FileError when the file cannot be
// written, is not a regular file, or is being saved by another process; the old file is then
// unchanged.
void write_atomically(const std::filesystem::path& path, std::span<const std::byte> contents);

}  // namespace weft
