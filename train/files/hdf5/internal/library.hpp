// Access to the HDF5 library.
#pragma once

#include <hdf5.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>

#include "train/files/hdf5/internal/bytes.hpp"

namespace weft::hdf5 {

// Handles, locking and errors of the HDF5 library. Include it only in .cpp files.

// Serializes access to the library, which may have been built without thread safety. While held,
// the library prints no errors and loads no plugins; the destructor restores both settings.
class LibraryLock {
 public:
  LibraryLock();
  ~LibraryLock();
  LibraryLock(const LibraryLock&) = delete;
  LibraryLock& operator=(const LibraryLock&) = delete;

 private:
  std::lock_guard<std::recursive_mutex> lock_;
  H5E_auto2_t print_ = nullptr;
  void* print_data_ = nullptr;
  unsigned plugins_ = 0;
};

// Owns an identifier of the HDF5 library, of any kind, and closes it under a LibraryLock.
class Handle {
 public:
  explicit Handle(hid_t id = H5I_INVALID_HID) : id_(id) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)) {}
  Handle& operator=(Handle other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  ~Handle();
  operator hid_t() const { return id_; }

 private:
  hid_t id_;
};

// Throws FileError "location: expected …, got an HDF5 error: …" with the last error of the library.
[[noreturn]] void fail_with_hdf5(const Location& location, const char* expected);

// Returns `result`. Throws FileError if it is negative, which means an error of the library.
template <class Result>
Result checked(Result result, const Location& location, const char* expected) {
  if (result < 0) fail_with_hdf5(location, expected);
  return result;
}
inline Handle checked_handle(hid_t id, const Location& location, const char* expected) {
  return Handle(checked(id, location, expected));
}

// FileImage: an HDF5 file in memory, for the library to write to.

// Allocates memory only for parts that were written; all other parts are zeros. Called by the
// library, so functions return false on failure instead of throwing.
class FileImage {
 public:
  std::uint64_t size() const noexcept { return size_; }
  void read(std::uint64_t offset, std::span<std::byte> bytes) const noexcept;
  bool write(std::uint64_t offset, std::span<const std::byte> bytes) noexcept;
  bool resize(std::uint64_t size) noexcept;

  // Makes all further changes succeed without effect, so that the file can be closed.
  void freeze() noexcept { frozen_ = true; }
  // Whether memory ran out during a change; the image is then frozen.
  bool is_incomplete() const noexcept { return is_incomplete_; }

 private:
  using Page = std::array<std::byte, 4096>;

  std::map<std::uint64_t, Page> pages_;  // by page number
  std::uint64_t size_ = 0;
  bool frozen_ = false;
  bool is_incomplete_ = false;
};

// Creates a file in an image, which is closed with its last handle. Throws FileError, naming
// `location`. Call it under a LibraryLock.
Handle create_file(const std::shared_ptr<FileImage>& image, const Location& location);

}  // namespace weft::hdf5
