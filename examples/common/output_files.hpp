// Checks that results can be written, for programs to call before they compute them.
#pragma once

#include <filesystem>

namespace weft::examples {

// Creates a directory and its parents unless they exist. Throws FileError when that fails or no
// file can be created in it.
void make_directory(const std::filesystem::path& directory);

// Throws FileError when there is something at `file` that cannot be replaced: a directory, a pipe,
// or a file that cannot be written.
void check_replaceable(const std::filesystem::path& file);

}  // namespace weft::examples
