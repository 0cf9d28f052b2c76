#include "train/files/internal/file_descriptor.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "weft/autograd/error.hpp"

namespace weft {
namespace {

bool lock(int descriptor, int kind) {
  return ::flock(descriptor, kind | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

}  // namespace

FileDescriptor::~FileDescriptor() {
  if (valid()) ::close(descriptor_);
}

bool FileDescriptor::lock_shared() const { return lock(descriptor_, LOCK_SH); }
bool FileDescriptor::lock_exclusive() const { return lock(descriptor_, LOCK_EX); }

FileDescriptor lock_directory(const std::filesystem::path& directory) {
  check_path(directory);
  FileDescriptor lock(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock.valid()) fail_with_errno(directory, "open directory");
  if (::faccessat(AT_FDCWD, directory.c_str(), W_OK | X_OK, AT_EACCESS) != 0)
    fail_with_errno(directory, "write to directory");
  if (!lock.lock_exclusive())
    fail_on_file(directory, "a directory that is not in use", "a locked directory");
  return lock;
}

void check_path(const std::filesystem::path& path) {
  if (path.empty()) fail_on_file(path, "a nonempty path", "an empty path");
  if (path.native().find('\0') != std::string::npos)
    fail_on_file(path, "a path without NUL", "a path with NUL");
}

void check_regular(const std::filesystem::path& path, const struct stat& status,
                   const char* expected) {
  if (!S_ISREG(status.st_mode))
    fail_on_file(path, expected,
                 S_ISDIR(status.st_mode) ? "a directory" : "a device, pipe or socket");
}

std::string quoted(const std::filesystem::path& path) {
  return '"' + printable(path.native()) + '"';
}

void fail_on_file(const std::filesystem::path& path, const std::string& expected,
                  const std::string& got) {
  fail<FileError>(quoted(path), expected, got);
}

void fail_with_errno(const std::filesystem::path& path, const char* action) {
  const int error = errno;
  throw FileError(
      str_cat("cannot ", action, ' ', quoted(path), ": ", std::generic_category().message(error)));
}

}  // namespace weft
