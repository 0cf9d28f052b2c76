// SealedFile: an AtomicFile that ends with the checksum of what it contains.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "train/files/atomic_file.hpp"
#include "train/files/xxh128.hpp"

namespace weft {

// All functions throw as AtomicFile's do.
class SealedFile {
 public:
  explicit SealedFile(const std::filesystem::path& path);

  // How much was written.
  std::uint64_t size() const { return size_; }
  void write(std::span<const std::byte> bytes);
  // Appends the checksum line, and replaces the old file.
  void commit();

 private:
  void write_buffer();

  AtomicFile file_;
  Xxh128 hash_;
  std::vector<std::byte> buffer_;  // written, but not in the file yet
  std::uint64_t size_ = 0;
};

}  // namespace weft
