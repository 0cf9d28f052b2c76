#include "train/hdf5/internal/location.hpp"

#include "train/files/file_descriptor.hpp"

namespace weft::hdf5 {

std::string Location::text() const {
  return object.empty() ? quoted(file) : quoted(file) + ' ' + shortened(object);
}

std::string Location::shortened(const std::string& text) {
  constexpr std::size_t max_bytes = 500;
  return text.size() > max_bytes ? text.substr(0, max_bytes) + "…" : text;
}

}  // namespace weft::hdf5
