// Handles, locking and errors of the HDF5 library. Included by definitions only.
#pragma once

#include <hdf5.h>

#include <mutex>
#include <utility>

#include "train/files/hdf5/internal/location.hpp"

namespace weft::hdf5 {

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

// Returns `result`. Throws FileError when it is negative: an error of the library.
template <class Result>
Result checked(Result result, const Location& location, const char* expected) {
  if (result < 0) fail_with_hdf5(location, expected);
  return result;
}
inline Handle checked_handle(hid_t id, const Location& location, const char* expected) {
  return Handle(checked(id, location, expected));
}

}  // namespace weft::hdf5
