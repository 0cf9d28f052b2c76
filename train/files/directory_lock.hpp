// DirectoryLock: reserves a directory for one process.
#pragma once

#include <filesystem>

#include "train/files/file_descriptor.hpp"

namespace weft {

// Released by the destructor, or when the process ends for any reason. Leaves no file behind.
class DirectoryLock {
 public:
  // Throws FileError when the directory is missing, is not a directory, cannot be written, or is
  // locked by another DirectoryLock, in this process or in any other.
  explicit DirectoryLock(const std::filesystem::path& directory);

 private:
  FileDescriptor descriptor_;
};

}  // namespace weft
