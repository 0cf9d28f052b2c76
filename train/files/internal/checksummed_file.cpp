#include "train/files/internal/checksummed_file.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "weft/autograd/error.hpp"

namespace weft {
namespace {

constexpr std::size_t buffer_bytes = 256 << 10;  // small enough to remain in the cache

constexpr std::string_view prefix = "\nweft xxh128 ";

std::string checksum_line(const Xxh128& contents) { return str_cat(prefix, contents.text(), '\n'); }

// Returns the last bytes of a file, if it is long enough for a checksum line.
std::string last_line(const RandomAccessFile& file) {
  std::string line(checksum_line_size, '\0');
  const bool is_long = file.size() >= line.size();
  return is_long && file.read(file.size() - line.size(), std::as_writable_bytes(std::span(line)))
             ? line
             : "";
}

}  // namespace

ChecksummedFile::ChecksummedFile(const std::filesystem::path& path) : file_(path) {
  buffer_.reserve(buffer_bytes);
}

void ChecksummedFile::write(std::span<const std::byte> bytes) {
  size_ += bytes.size();
  while (!bytes.empty()) {
    const std::size_t count = std::min(bytes.size(), buffer_bytes - buffer_.size());
    buffer_.insert(buffer_.end(), bytes.begin(),
                   bytes.begin() + static_cast<std::ptrdiff_t>(count));
    bytes = bytes.subspan(count);
    if (buffer_.size() == buffer_bytes) write_buffer();
  }
}

void ChecksummedFile::write_buffer() {
  hash_.add(buffer_);
  file_.write(buffer_);
  buffer_.clear();
}

void ChecksummedFile::commit() {
  write_buffer();
  const std::string line = checksum_line(hash_);
  file_.write(std::as_bytes(std::span(line)));
  file_.commit();
}

bool is_like_checksum_line(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  bytes = bytes.substr(0, checksum_line_size);
  std::size_t equal = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    if (i < prefix.size())
      equal += bytes[i] == prefix[i];
    else
      equal += i + 1 < checksum_line_size ? digits.find(bytes[i]) != digits.npos : bytes[i] == '\n';
  return 4 * equal >= 3 * bytes.size();
}

bool has_checksum_line(const RandomAccessFile& file) { return last_line(file).starts_with(prefix); }

void verify_checksum_line(const RandomAccessFile& file, const std::filesystem::path& path) {
  const std::string line = last_line(file);
  const std::uint64_t size = file.size() - line.size();
  std::vector<std::byte> buffer(std::min<std::uint64_t>(size, buffer_bytes));
  Xxh128 hash;
  for (std::uint64_t offset = 0; line.starts_with(prefix) && offset < size;) {
    const auto bytes =
        std::span(buffer).first(std::min<std::uint64_t>(buffer.size(), size - offset));
    if (!file.read(offset, bytes)) fail_on_file(path, "a complete file", "a shorter file");
    hash.add(bytes);
    offset += bytes.size();
  }
  if (line != checksum_line(hash))
    fail_on_file(path, "the checksum of its contents in the last line",
                 "a different checksum (the file is damaged)");
}

}  // namespace weft
