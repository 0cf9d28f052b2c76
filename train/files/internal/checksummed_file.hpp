// ChecksummedFile: an AtomicFile whose last line is the checksum of its contents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "train/files/internal/atomic_file.hpp"
#include "train/files/internal/random_access_file.hpp"
#include "train/files/internal/xxh128.hpp"

namespace weft {

// The size of the line in bytes: a newline, "weft xxh128 ", the 32 digits of the Xxh128 of all
// bytes before it, and a newline. HDF5 ignores bytes after the end of its data; programs that
// modify the file remove the line or make it invalid.
inline constexpr std::size_t checksum_line_size = 46;

// All functions throw the same exceptions as AtomicFile.
class ChecksummedFile {
 public:
  explicit ChecksummedFile(const std::filesystem::path& path);

  // Returns the number of bytes written so far.
  std::uint64_t size() const { return size_; }
  void write(std::span<const std::byte> bytes);
  // Appends the checksum line, and replaces the old file.
  void commit();

 private:
  void write_buffer();

  AtomicFile file_;
  Xxh128 hash_;
  std::vector<std::byte> buffer_;  // bytes that are not in the file yet
  std::uint64_t size_ = 0;
};

// Returns whether bytes are a checksum line, or the beginning of one, possibly with a few changed
// bytes. Other programs leave bytes of other kinds after the end of their data.
bool is_like_checksum_line(std::string_view bytes);

// Returns whether the file ends with a checksum line, without reading the bytes before it.
bool has_checksum_line(const RandomAccessFile& file);

// Throws FileError, naming `path`, unless the file ends with the checksum line of the bytes before
// it.
void verify_checksum_line(const RandomAccessFile& file, const std::filesystem::path& path);

}  // namespace weft
