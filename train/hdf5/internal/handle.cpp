#include "train/hdf5/internal/handle.hpp"

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

std::string Location::printable(const std::string& text) {
  constexpr std::size_t max_bytes = 500;
  std::string clean = text.substr(0, max_bytes);
  for (char& c : clean)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return text.size() > max_bytes ? clean + "…" : clean;
}

void fail_with_hdf5(const Location& location, const char* expected) {
  std::string message;
  // The first record visited is the innermost: the cause of the error.
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned position, const H5E_error2_t* error, void* out) -> herr_t {
        if (position == 0 && error->desc) *static_cast<std::string*>(out) = error->desc;
        return 0;
      },
      &message);
  fail_at(location, expected, concatenate_text("an HDF5 error: ", Location::printable(message)));
}

}  // namespace weft::hdf5
