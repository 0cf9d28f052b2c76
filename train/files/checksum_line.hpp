// The checksum line: a last line with the checksum of all bytes before it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "train/files/open_file.hpp"
#include "train/files/xxh128.hpp"

namespace weft {

// The size of the line in bytes: a newline, "weft xxh128 ", the 32 digits of the Xxh128 of all
// bytes before it, and a newline. HDF5 ignores bytes after the end of its data; programs that
// modify the file remove the line or make it invalid.
inline constexpr std::size_t checksum_line_size = 46;

// The checksum line of what was added to `contents`.
std::string checksum_line(const Xxh128& contents);

// Returns whether the file ends with a checksum line, without reading the bytes before it.
bool has_checksum_line(const OpenFile& file);

// Throws FileError, naming `path`, unless the file ends with the checksum line of the bytes before
// it.
void verify_checksum_line(const OpenFile& file, const std::filesystem::path& path);

}  // namespace weft
