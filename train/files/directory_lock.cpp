#include "train/files/directory_lock.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace weft {

DirectoryLock::DirectoryLock(const std::filesystem::path& directory) {
  check_path(directory);
  FileDescriptor descriptor(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!descriptor.valid()) fail_with_errno(directory, "a directory");
  if (::faccessat(AT_FDCWD, directory.c_str(), W_OK | X_OK, AT_EACCESS) != 0)
    fail_with_errno(directory, "a writable directory");
  if (!descriptor.lock_exclusive())
    fail_on_file(directory, "a directory that is not in use", "one that is locked");
  descriptor_ = std::move(descriptor);
}

}  // namespace weft
