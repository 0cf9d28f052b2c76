// What the HDF5 files are written with: handles, turns, errors. Included by definitions only.
#pragma once

#include <hdf5.h>

#include <filesystem>
#include <mutex>
#include <string>
#include <utility>

#include "weft/autograd/error.hpp"

namespace weft::hdf5 {

// An identifier of the HDF5 library, of any kind, given back when it goes.
class Handle {
 public:
  explicit Handle(hid_t id = H5I_INVALID_HID) : id_(id) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)) {}
  Handle& operator=(Handle other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  ~Handle() {
    if (id_ >= 0) H5Idec_ref(id_);
  }
  operator hid_t() const { return id_; }

 private:
  hid_t id_;
};

// Held while the library is used: one thread at a time, as it may have been built without threads;
// its own printing of errors off; no plugin loaded, whatever a file asks for. Ends by putting back
// what was there.
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

// An object of a file, as messages name it: "model.h5" /encoder/0/weight. The file itself when
// `object` is empty.
struct Place {
  const std::filesystem::path& file;
  const std::string& object;

  std::string text() const {
    return concatenate_text(file, object.empty() ? "" : " ", printable(object));
  }
  // The text with other characters than printable ones as '?', cut where it grows long.
  static std::string printable(const std::string& text);
};

// Throws "place: expected …, got …".
template <class Expected, class Got>
[[noreturn]] void refuse(const Place& place, const Expected& expected, const Got& got) {
  fail<FileError>(place.text(), expected, got);
}

// Throws "place: expected …, got an error of HDF5: …" with what the library said last.
[[noreturn]] void fail_with_hdf5(const Place& place, const char* expected);

// `result`, unless it says that the library failed.
template <class Result>
Result checked(Result result, const Place& place, const char* expected) {
  if (result < 0) fail_with_hdf5(place, expected);
  return result;
}
inline Handle checked_handle(hid_t id, const Place& place, const char* expected) {
  return Handle(checked(id, place, expected));
}

}  // namespace weft::hdf5
