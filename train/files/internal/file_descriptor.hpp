// FileDescriptor: owns a file descriptor of the operating system.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <utility>

#include "weft/autograd/export.hpp"

namespace weft {

class WEFT_API FileDescriptor {
 public:
  explicit FileDescriptor(int descriptor = -1) : descriptor_(descriptor) {}
  FileDescriptor(FileDescriptor&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)) {}
  FileDescriptor& operator=(FileDescriptor other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~FileDescriptor();

  bool valid() const { return descriptor_ >= 0; }
  int get() const { return descriptor_; }

  // Acquire a lock without waiting (see flock(2)). The lock is released with the descriptor. Return
  // false if another descriptor, of any process, holds a conflicting lock. File systems without
  // locks never report a conflict.
  bool lock_shared() const;
  bool lock_exclusive() const;

 private:
  int descriptor_;
};

// Reserves a directory for one process, until the descriptor is closed or the process ends for any
// reason. Leaves no file behind. Throws FileError if the directory is missing, is not a directory,
// cannot be written, or is already reserved by this or another process.
FileDescriptor lock_directory(const std::filesystem::path& directory);

// Throws FileError for an empty path, and for a path with a NUL, at which the operating system
// would truncate it.
void check_path(const std::filesystem::path& path);

// Throws FileError, naming `expected`, unless a file with this status is a regular file.
void check_regular(const std::filesystem::path& path, const struct stat& status,
                   const char* expected);

// Returns a path in quotes, as it appears in messages.
WEFT_API std::string quoted(const std::filesystem::path& path);
// Throws FileError with the message `"path": expected …, got …`.
[[noreturn]] WEFT_API void fail_on_file(const std::filesystem::path& path,
                                        const std::string& expected, const std::string& got);
// Throws FileError with the message `cannot ACTION "path": REASON`. The reason describes `errno`.
[[noreturn]] void fail_with_errno(const std::filesystem::path& path, const char* action);

}  // namespace weft
