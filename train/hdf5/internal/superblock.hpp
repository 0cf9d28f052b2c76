// The superblock: the first bytes of an HDF5 file.
#pragma once

#include <cstdint>
#include <optional>

#include "train/files/open_file.hpp"
#include "train/hdf5/internal/location.hpp"

namespace weft::hdf5 {

// Of all versions.
inline constexpr std::uint64_t min_superblock_size = 48;

struct Superblock {
  // Where the file begins: other data may stand before it. Addresses count from here.
  std::uint64_t base;
  // The address of the root group.
  std::uint64_t root;
  // Where it ends, counted from the start of all data.
  std::uint64_t end;
};

// None for other data than an HDF5 file. Throws FileError for a file that is damaged, incomplete or
// of a later version.
std::optional<Superblock> read_superblock(const OpenFile& file, const Location& location);

}  // namespace weft::hdf5
