// FileBytes: the bytes of an HDF5 file, which the library reads and writes through weft.
//
// The library's own file drivers open a path, so not always the file that was checked, and crash
// when the program ends if closing a file has failed. Here closing does nothing that can fail.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>

#include "train/files/file_descriptor.hpp"
#include "train/hdf5/internal/handle.hpp"

namespace weft::hdf5 {

// Called by the library, so functions return false where they fail.
class FileBytes {
 public:
  virtual ~FileBytes() = default;

  virtual std::uint64_t size() const noexcept = 0;
  virtual bool read(std::uint64_t offset, std::span<std::byte> bytes) const noexcept = 0;
  virtual bool write(std::uint64_t offset, std::span<const std::byte> bytes) noexcept = 0;
  virtual bool resize(std::uint64_t size) noexcept = 0;
};

// An open file, to be read only. Its path may have another file by now.
class OpenFile final : public FileBytes {
 public:
  explicit OpenFile(FileDescriptor descriptor);

  const FileDescriptor& descriptor() const { return descriptor_; }
  std::uint64_t size() const noexcept override { return size_; }
  bool read(std::uint64_t offset, std::span<std::byte> bytes) const noexcept override;
  bool write(std::uint64_t, std::span<const std::byte>) noexcept override { return false; }
  bool resize(std::uint64_t) noexcept override { return false; }

 private:
  FileDescriptor descriptor_;
  std::uint64_t size_;
};

// Bytes in memory; zeros where nothing was written.
class FileInMemory final : public FileBytes {
 public:
  std::uint64_t size() const noexcept override { return size_; }
  bool read(std::uint64_t offset, std::span<std::byte> bytes) const noexcept override;
  bool write(std::uint64_t offset, std::span<const std::byte> bytes) noexcept override;
  bool resize(std::uint64_t size) noexcept override;

  // From now on, changes are ignored and succeed.
  void freeze() noexcept { frozen_ = true; }
  std::span<const std::byte> bytes() const noexcept { return {data_.get(), size_}; }

 private:
  struct Free {
    void operator()(std::byte* data) const noexcept { std::free(data); }
  };

  std::unique_ptr<std::byte, Free> data_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
  bool frozen_ = false;
};

// Open and create a file of these bytes, which is closed with its last handle. Throw FileError,
// naming `location`. Call them under a LibraryLock.
Handle open_file(std::shared_ptr<FileBytes> bytes, const Location& location);
Handle create_file(std::shared_ptr<FileBytes> bytes, const Location& location);

}  // namespace weft::hdf5
