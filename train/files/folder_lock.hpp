// FolderLock: a folder that one process at a time works in.
#pragma once

#include <filesystem>

#include "train/files/file_descriptor.hpp"

namespace weft {

// Held as long as it lives. It ends with the process, however that ends, and leaves no file behind.
class FolderLock {
 public:
  // Throws FileError when the folder is missing, is none, cannot be written, or is held by another
  // FolderLock, in this process or in any other.
  explicit FolderLock(const std::filesystem::path& folder);

 private:
  FileDescriptor descriptor_;
};

}  // namespace weft
