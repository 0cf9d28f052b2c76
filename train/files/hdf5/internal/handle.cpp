#include "train/files/hdf5/internal/handle.hpp"

#include <array>
#include <cstring>

namespace weft::hdf5 {
namespace {

std::recursive_mutex& library_mutex() {
  static std::recursive_mutex mutex;
  return mutex;
}

}  // namespace

LibraryLock::LibraryLock() : lock_(library_mutex()) {
  H5Eget_auto2(H5E_DEFAULT, &print_, &print_data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  H5PLget_loading_state(&plugins_);
  H5PLset_loading_state(0);
}

LibraryLock::~LibraryLock() {
  H5PLset_loading_state(plugins_);
  H5Eset_auto2(H5E_DEFAULT, print_, print_data_);
}

Handle::~Handle() {
  if (id_ < 0) return;
  const LibraryLock lock;
  H5Idec_ref(id_);
}

void fail_with_hdf5(const Location& location, const char* expected) {
  std::array<char, 512> message{};
  // The first record visited is the innermost: the cause of the error.
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned position, const H5E_error2_t* error, void* out) -> herr_t {
        auto& innermost = *static_cast<std::array<char, 512>*>(out);
        if (position == 0 && error->desc)
          std::strncpy(innermost.data(), error->desc, innermost.size() - 1);
        return 0;
      },
      &message);
  fail_at(location, expected,
          concatenate_text("an HDF5 error: ", Location::shortened(message.data())));
}

}  // namespace weft::hdf5
