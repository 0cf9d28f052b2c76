// The checksums of HDF5's newer structures.
#pragma once

#include <cstdint>

#include "train/files/hdf5/internal/cursor.hpp"

namespace weft::hdf5 {

inline constexpr std::size_t checksum_size = 4;

// Bob Jenkins's lookup3 (2006): its function hashlittle, with the initial value 0.
std::uint32_t lookup3(Bytes bytes);

// Throws StructureError unless the checksum is that of the bytes.
void check_checksum(std::uint64_t checksum, Bytes bytes);

// The bytes before the checksum at the end of a structure. Throws StructureError unless it is
// theirs.
Bytes without_checksum(Bytes structure);

}  // namespace weft::hdf5
