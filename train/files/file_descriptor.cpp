#include "train/files/file_descriptor.hpp"

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

void fail_on_file(const std::filesystem::path& path, const std::string& expected,
                  const std::string& got) {
  fail<FileError>(concatenate_text(path), expected, got);
}

void fail_with_errno(const std::filesystem::path& path, const std::string& expected) {
  const std::string message = std::generic_category().message(errno);
  fail_on_file(path, expected, message);
}

}  // namespace weft
