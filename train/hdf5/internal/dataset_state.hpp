// The state of an Hdf5Dataset. Included by definitions only.
#pragma once

#include <filesystem>
#include <string>

#include "weft/train/hdf5/hdf5_dataset.hpp"
#include "train/hdf5/internal/handle.hpp"

namespace weft {

struct Hdf5Dataset::State {
  // Throws FileError unless `object` is a dataset whose data are in the file itself.
  State(const std::filesystem::path& file, std::string path, hdf5::Handle object);

  hdf5::Location location() const { return {file, path}; }

  std::filesystem::path file;
  std::string path;
  hdf5::Handle handle;
  bool storage_checked = false;  // see check_storage
};

}  // namespace weft
