#include "train/files/file_contents.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "weft/autograd/error.hpp"
#include "train/files/file_descriptor.hpp"

namespace weft {
namespace {

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  return S_ISFIFO(mode) ? "a pipe" : "a device or socket";
}

}  // namespace

std::optional<std::string> file_contents(const std::filesystem::path& path,
                                         std::uintmax_t max_bytes) {
  // O_NONBLOCK: opening a pipe does not wait for a process that writes to it.
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!file.valid() && errno == ENOENT) return std::nullopt;
  struct stat status {};
  if (!file.valid() || ::fstat(file.get(), &status) != 0)
    fail_with_errno(path, "a file that can be read");
  if (!S_ISREG(status.st_mode)) fail_on_file(path, "a regular file", kind_of(status.st_mode));
  const auto check_size = [&](std::uintmax_t bytes) {
    if (bytes > max_bytes)
      fail_on_file(path, concatenate_text("a file of at most ", max_bytes, " bytes"),
                   concatenate_text(bytes, " bytes"));
  };
  check_size(static_cast<std::uintmax_t>(status.st_size));
  std::string contents;
  char block[1 << 16];
  for (;;) {
    const ssize_t count = ::read(file.get(), block, sizeof block);
    if (count == 0) return contents;
    if (count > 0)
      check_size(contents.append(block, static_cast<std::size_t>(count)).size());
    else if (errno != EINTR)
      fail_with_errno(path, "a file that can be read");
  }
}

}  // namespace weft
