#include "train/files/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "train/files/file_descriptor.hpp"

namespace weft {
namespace {

namespace fs = std::filesystem;

// Resolves symbolic links; throws unless the target is a regular file or missing.
fs::path resolved(fs::path path) {
  std::error_code error;
  constexpr int max_links = 40;  // as in the kernel
  for (int i = 0; i < max_links && fs::is_symlink(path, error); ++i)
    path = path.parent_path() / fs::read_symlink(path, error);
  const fs::file_status status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_regular_file(status))
    fail_on_file(path, "a regular file to replace",
                 fs::is_directory(status) ? "a directory" : "a device, pipe or socket");
  return path;
}

bool refers_to(const fs::path& path, const FileDescriptor& file) {
  struct stat named {};
  struct stat open {};
  return ::lstat(path.c_str(), &named) == 0 && ::fstat(file.get(), &open) == 0 &&
         named.st_dev == open.st_dev && named.st_ino == open.st_ino;
}

[[noreturn]] void fail_with_concurrent_save(const fs::path& path) {
  fail_on_file(path, "one process that saves the file", "two at the same time");
}

// Opens the temporary file, empty and locked. One that a killed process left behind is reused.
FileDescriptor open_temporary(const fs::path& path) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    FileDescriptor file(
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666));
    if (!file.valid()) fail_with_errno(path, "a file that can be written");
    if (!file.lock_exclusive()) fail_with_concurrent_save(path);
    // Between opening and locking, its previous owner may have renamed it.
    if (!refers_to(path, file)) continue;
    if (::ftruncate(file.get(), 0) != 0) fail_with_errno(path, "a regular file");
    return file;
  }
  fail_with_concurrent_save(path);
}

void write_all(const fs::path& path, const FileDescriptor& file,
               std::span<const std::byte> contents) {
  while (!contents.empty()) {
    const ssize_t written = ::write(file.get(), contents.data(), contents.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_with_errno(path, "disk space for the whole file");
    contents = contents.subspan(static_cast<std::size_t>(written));
  }
  if (::fsync(file.get()) != 0) fail_with_errno(path, "the file to reach the disk");
}

}  // namespace

void write_atomically(const fs::path& path, std::span<const std::byte> contents) {
  const fs::path target = resolved(path);
  const fs::path parent = target.has_parent_path() ? target.parent_path() : ".";
  const FileDescriptor directory(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory.valid()) fail_with_errno(parent, "a directory to save in");

  fs::path temporary = target;
  temporary += ".saving";
  const FileDescriptor file = open_temporary(temporary);
  try {
    write_all(target, file, contents);
    // Under its new name other processes may read it immediately.
    if (!file.lock_shared()) fail_with_concurrent_save(target);
    if (::rename(temporary.c_str(), target.c_str()) != 0)
      fail_with_errno(target, "a file that can be replaced");
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
  // Makes the renaming durable in case of a power failure.
  ::fsync(directory.get());
}

}  // namespace weft
