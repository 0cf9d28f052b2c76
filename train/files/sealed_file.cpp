#include "train/files/sealed_file.hpp"

#include <algorithm>
#include <string>

#include "train/files/checksum_line.hpp"

namespace weft {
namespace {

constexpr std::size_t buffer_bytes = 256 << 10;  // stays in the cache until it is written

}  // namespace

SealedFile::SealedFile(const std::filesystem::path& path) : file_(path) {
  buffer_.reserve(buffer_bytes);
}

void SealedFile::write(std::span<const std::byte> bytes) {
  size_ += bytes.size();
  while (!bytes.empty()) {
    const std::size_t count = std::min(bytes.size(), buffer_bytes - buffer_.size());
    buffer_.insert(buffer_.end(), bytes.begin(),
                   bytes.begin() + static_cast<std::ptrdiff_t>(count));
    bytes = bytes.subspan(count);
    if (buffer_.size() == buffer_bytes) write_buffer();
  }
}

void SealedFile::write_buffer() {
  hash_.add(buffer_);
  file_.write(buffer_);
  buffer_.clear();
}

void SealedFile::commit() {
  write_buffer();
  const std::string line = checksum_line(hash_);
  file_.write(std::as_bytes(std::span(line)));
  file_.commit();
}

}  // namespace weft
