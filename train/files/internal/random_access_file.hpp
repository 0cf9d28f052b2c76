// RandomAccessFile: the bytes of a regular file that is open for reading; file_contents: all of
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "train/files/internal/file_descriptor.hpp"

namespace weft {

// Its path may have another file by now. May be read on several threads.
class RandomAccessFile {
 public:
  // Throws FileError unless the path is that of a regular file that can be read.
  explicit RandomAccessFile(const std::filesystem::path& path);

  const FileDescriptor& descriptor() const { return descriptor_; }
  // When the file was opened.
  std::uint64_t size() const { return size_; }
  // Fills `bytes` from `offset` on. Returns false where the file has no such bytes, or they cannot
  // be read.
  bool read(std::uint64_t offset, std::span<std::byte> bytes) const;

 private:
  FileDescriptor descriptor_;
  std::uint64_t size_;
};

// Returns what the first bytes show a file to be that often lies where weights or JSON should be,
// such as "a zip archive …", or "" for all other bytes.
std::string known_content(std::string_view bytes);
std::string known_content(const RandomAccessFile& file);

// The bytes of a file; none when there is no such file. Throws FileError when it is not a regular
// file, which includes pipes that nobody writes to, has more than `max_bytes`, or cannot be read.
std::optional<std::string> file_contents(
    const std::filesystem::path& path,
    std::uint64_t max_bytes = std::numeric_limits<std::uint64_t>::max());

}  // namespace weft
