#include "train/hdf5/internal/open_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace weft::hdf5 {

OpenFile::OpenFile(FileDescriptor descriptor) : descriptor_(std::move(descriptor)) {
  struct stat file {};
  size_ = ::fstat(descriptor_.get(), &file) == 0 ? static_cast<std::uint64_t>(file.st_size) : 0;
}

bool OpenFile::read(std::uint64_t offset, std::span<std::byte> bytes) const {
  if (offset > size_ || bytes.size() > size_ - offset) return false;
  while (!bytes.empty()) {
    const ssize_t got =
        ::pread(descriptor_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;  // the file may have been cut short
    bytes = bytes.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
  return true;
}

}  // namespace weft::hdf5
