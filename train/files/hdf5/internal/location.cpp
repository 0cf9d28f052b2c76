#include "train/files/hdf5/internal/location.hpp"

#include "train/files/internal/file_descriptor.hpp"

namespace weft::hdf5 {

std::string Location::text() const {
  return object.empty() ? quoted(file) : quoted(file) + ' ' + shortened(object);
}

std::string Location::shortened(std::string_view text) {
  constexpr std::size_t max_bytes = 500;
  return std::string(text.substr(0, max_bytes)) + (text.size() > max_bytes ? "…" : "");
}

void fail_with_damage(std::string_view what) { fail_structure("an intact HDF5 file", what); }

void fail_unsupported(std::string_view what) {
  fail_structure("a form of HDF5 that weft reads (h5repack converts to one)", what);
}

}  // namespace weft::hdf5
