// The superblock: the first bytes of an HDF5 file.
#pragma once

#include <cstdint>
#include <optional>

#include "train/hdf5/internal/file_bytes.hpp"

namespace weft::hdf5 {

// The size of an HDF5 file according to its superblock at the start; none for other files.
std::optional<std::uint64_t> size_in_superblock(const FileBytes& file);

}  // namespace weft::hdf5
