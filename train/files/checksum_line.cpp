#include "train/files/checksum_line.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>
#include <string_view>
#include <vector>

#include "weft/autograd/error.hpp"

namespace weft {
namespace {

constexpr std::string_view prefix = "\nweft xxh128 ";

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

// The hash of the first `size` bytes of a file.
std::string hash_of(const FileDescriptor& file, const std::filesystem::path& path,
                    std::size_t size) {
  std::vector<std::byte> buffer(std::min<std::size_t>(size, 1 << 18));
  Xxh128 hash;
  for (std::size_t offset = 0; offset < size;) {
    const auto bytes = read_at(file, path, offset,
                               std::span(buffer).first(std::min(buffer.size(), size - offset)));
    if (bytes.empty()) break;
    hash.add(bytes);
    offset += bytes.size();
  }
  return hash.text();
}

// The last line of a file, if it is long enough for one.
struct LastLine {
  std::size_t contents_size = 0;  // of the bytes before it
  std::string text = "";

  bool is_checksum() const { return text.starts_with(prefix); }
};

LastLine last_line(const FileDescriptor& file, const std::filesystem::path& path) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) fail_with_errno(path, "a file that can be read");
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size < checksum_line_size) return {};
  std::array<std::byte, checksum_line_size> last;
  const auto bytes = read_at(file, path, size - checksum_line_size, last);
  return {size - checksum_line_size,
          std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())};
}

}  // namespace

std::string checksum_line(const Xxh128& contents) {
  return concatenate_text(prefix, contents.text(), '\n');
}

bool has_checksum_line(const FileDescriptor& file, const std::filesystem::path& path) {
  return last_line(file, path).is_checksum();
}

void verify_checksum_line(const FileDescriptor& file, const std::filesystem::path& path) {
  const LastLine line = last_line(file, path);
  if (!line.is_checksum() ||
      line.text.substr(prefix.size()) != hash_of(file, path, line.contents_size) + '\n')
    fail_on_file(path, "the checksum of its contents in the last line",
                 "another one (a damaged file)");
}

}  // namespace weft
