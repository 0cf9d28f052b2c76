// OpenFile: the bytes of a regular file that is open for reading.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "train/files/file_descriptor.hpp"

namespace weft {

// Its path may have another file by now. May be read on several threads.
class OpenFile {
 public:
  // Throws FileError unless the path is that of a regular file that can be read.
  explicit OpenFile(const std::filesystem::path& path);

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

}  // namespace weft
