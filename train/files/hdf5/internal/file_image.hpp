// FileImage: an HDF5 file in memory, for the library to write to.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>

#include "train/files/hdf5/internal/handle.hpp"

namespace weft::hdf5 {

// Has memory only for what was written; the rest is zeros. Called by the library, so functions
// return false where they fail.
class FileImage {
 public:
  std::uint64_t size() const noexcept { return size_; }
  void read(std::uint64_t offset, std::span<std::byte> bytes) const noexcept;
  bool write(std::uint64_t offset, std::span<const std::byte> bytes) noexcept;
  bool resize(std::uint64_t size) noexcept;

  // From now on, changes are ignored and succeed, so that the file can be closed.
  void freeze() noexcept { frozen_ = true; }
  // Whether there was not enough memory for a change; the image is then frozen.
  bool is_incomplete() const noexcept { return is_incomplete_; }

 private:
  using Page = std::array<std::byte, 4096>;

  std::map<std::uint64_t, Page> pages_;  // by number
  std::uint64_t size_ = 0;
  bool frozen_ = false;
  bool is_incomplete_ = false;
};

// Creates a file in an image, which is closed with its last handle. Throws FileError, naming
// `location`. Call it under a LibraryLock.
Handle create_file(const std::shared_ptr<FileImage>& image, const Location& location);

}  // namespace weft::hdf5
