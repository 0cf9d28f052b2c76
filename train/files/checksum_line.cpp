#include "train/files/checksum_line.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <vector>

#include "weft/autograd/error.hpp"
#include "train/files/digest.hpp"

namespace weft {
namespace {

constexpr std::string_view prefix = "\nweft digest ";

// Reads bytes of the file from `offset` on, up to the size of `buffer` or the end of the file.
std::span<const std::byte> read_at(const FileDescriptor& file, const std::filesystem::path& path,
                                   std::size_t offset, std::span<std::byte> buffer) {
  std::size_t filled = 0;
  while (filled < buffer.size()) {
    const ssize_t got = ::pread(file.get(), buffer.data() + filled, buffer.size() - filled,
                                static_cast<off_t>(offset + filled));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_with_errno(path, "a file that can be read");
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  return buffer.first(filled);
}

std::string line_of(const Digest& digest) { return concatenate_text(prefix, digest.text(), '\n'); }

}  // namespace

std::string checksum_line(std::span<const std::byte> contents) {
  Digest digest;
  digest.add(contents);
  return line_of(digest);
}

bool verify_checksum_line(const FileDescriptor& file, const std::filesystem::path& path) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) fail_with_errno(path, "a file that can be read");
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size < checksum_line_size) return false;
  const std::size_t contents_size = size - checksum_line_size;

  std::vector<std::byte> buffer(std::min<std::size_t>(size, 1 << 18));
  const auto last = read_at(file, path, contents_size, std::span(buffer).first(checksum_line_size));
  const std::string line(reinterpret_cast<const char*>(last.data()), last.size());
  if (!line.starts_with(prefix)) return false;

  Digest digest;
  for (std::size_t offset = 0; offset < contents_size;) {
    const auto bytes =
        read_at(file, path, offset,
                std::span(buffer).first(std::min(buffer.size(), contents_size - offset)));
    if (bytes.empty()) break;
    digest.add(bytes);
    offset += bytes.size();
  }
  if (line != line_of(digest))
    fail_on_file(path, "the checksum of its contents in the last line",
                 "another one (a damaged file)");
  return true;
}

}  // namespace weft
