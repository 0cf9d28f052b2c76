#include "train/files/seal.hpp"

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

// Bytes `offset` … of the file, as many as `buffer` has or the file has left.
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

std::string text_of(const Digest& digest) { return concatenate_text(prefix, digest.text(), '\n'); }

}  // namespace

std::string seal_of(std::span<const std::byte> contents) {
  Digest digest;
  digest.add(contents);
  return text_of(digest);
}

bool check_seal(const FileDescriptor& file, const std::filesystem::path& path) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) fail_with_errno(path, "a file that can be read");
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size < seal_size) return false;
  const std::size_t end = size - seal_size;

  std::vector<std::byte> buffer(std::min<std::size_t>(size, 1 << 18));
  const auto last = read_at(file, path, end, std::span(buffer).first(seal_size));
  const std::string seal(reinterpret_cast<const char*>(last.data()), last.size());
  if (!seal.starts_with(prefix)) return false;

  Digest digest;
  for (std::size_t offset = 0; offset < end;) {
    const auto bytes =
        read_at(file, path, offset, std::span(buffer).first(std::min(buffer.size(), end - offset)));
    if (bytes.empty()) break;
    digest.add(bytes);
    offset += bytes.size();
  }
  if (seal != text_of(digest))
    refuse_file(path, "a file as weft wrote it",
                "a damaged one: its digest is not the one in its last line");
  return true;
}

}  // namespace weft
