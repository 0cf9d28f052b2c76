// RandomAccessFile: a regular file open for reading. file_contents: reads a whole file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "weft/autograd/export.hpp"
#include "train/files/internal/file_descriptor.hpp"

namespace weft {

// A regular file open for reading, even if its path names another file by now, or a file in memory.
// Several threads may read it at once.
class WEFT_API RandomAccessFile {
 public:
  // Throws FileError unless `path` is a regular file that can be read.
  explicit RandomAccessFile(const std::filesystem::path& path);
  // Creates a file in memory, which has no descriptor.
  static RandomAccessFile in_memory(std::string contents);

  const FileDescriptor& descriptor() const { return descriptor_; }
  // Returns the size in bytes when the file was opened.
  std::uint64_t size() const { return size_; }
  // Fills `bytes` with the contents from `offset` on. Returns false if the file is shorter or
  // cannot be read.
  bool read(std::uint64_t offset, std::span<std::byte> bytes) const;

 private:
  RandomAccessFile() = default;

  FileDescriptor descriptor_;
  std::string contents_;  // of a file in memory
  std::uint64_t size_ = 0;
};

// Recognizes, by their first bytes, kinds of files that often take the place of weights or JSON.
// Returns a description such as "a zip archive …", or an empty string for all other files.
std::string known_content(std::string_view bytes);
std::string known_content(const RandomAccessFile& file);

// Returns the contents of a file, or nothing if it does not exist. Throws FileError if it is not a
// regular file (for example a pipe), is larger than `max_bytes`, or cannot be read.
WEFT_API std::optional<std::string> file_contents(
    const std::filesystem::path& path,
    std::uint64_t max_bytes = std::numeric_limits<std::uint64_t>::max());

}  // namespace weft
