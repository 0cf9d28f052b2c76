#include "train/files/folder_lock.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace weft {

FolderLock::FolderLock(const std::filesystem::path& folder) {
  FileDescriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!descriptor.valid()) fail_with_errno(folder, "a folder to work in");
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    fail_with_errno(folder, "a folder that can be written");
  if (!descriptor.lock_exclusive())
    refuse_file(folder, "a folder that nobody else trains in", "one that another process uses");
  descriptor_ = std::move(descriptor);
}

}  // namespace weft
