// The seal: a last line that tells whether any byte of a file changed since weft wrote it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "train/files/file_descriptor.hpp"

namespace weft {

// The bytes of a seal: a newline, "weft xxh128 ", the 32 digits of the Xxh128 of all bytes before,
// and a newline. Readers of HDF5 do not look past the end of their data, so they do not mind it;
// programs that change the file drop or break it.
inline constexpr std::size_t seal_size = 46;

// The seal for `contents`.
std::string seal_of(std::span<const std::byte> contents);

// True when the file ends with a seal. Throws FileError, naming `path`, when it cannot be read or
// the seal is not its own.
bool check_seal(const FileDescriptor& file, const std::filesystem::path& path);

}  // namespace weft
