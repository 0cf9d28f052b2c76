// FileDescriptor: an open file or folder of the operating system, closed when it goes.
#pragma once

#include <filesystem>
#include <string>
#include <utility>

namespace weft {

class FileDescriptor {
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

  // Locks (see flock(2)) that end with the descriptor. False when another process, or another
  // descriptor of this one, holds a lock that excludes it; file systems without locks never say so.
  bool lock_shared() const;
  bool lock_exclusive() const;

 private:
  int descriptor_;
};

// Throws the FileError `"path": expected …, got …`.
[[noreturn]] void refuse_file(const std::filesystem::path& path, const std::string& expected,
                              const std::string& got);
// The same, got what `errno` says.
[[noreturn]] void fail_with_errno(const std::filesystem::path& path, const std::string& expected);

}  // namespace weft
