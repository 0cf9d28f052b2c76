// Reads and writes ZIP archives in memory.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "weft/autograd/export.hpp"

namespace weft {

// The contents of the members of an archive, by name.
using ZipMembers = std::map<std::string, std::string>;

// Returns all members of a ZIP archive, whose contents match their checksums. Throws FileError if
// the file cannot be read, or is damaged, encrypted or truncated; for a name that is a path outside
// the archive or that occurs twice; and for contents much larger than the file.
WEFT_API ZipMembers read_zip(const std::filesystem::path& path);

// Writes a ZIP archive, without compression. Equal members produce equal bytes.
WEFT_API void write_zip(const std::filesystem::path& path, const ZipMembers& members);

}  // namespace weft
