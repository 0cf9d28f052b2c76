// SourceFile: the bytes of an HDF5 file that is open for reading.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "train/files/internal/open_file.hpp"

namespace weft::hdf5 {

// Counts from the superblock, the first bytes of the HDF5 file: other data may stand before it.
using Address = std::uint64_t;
inline constexpr Address undefined_address = ~Address{0};

enum class Checksum { optional, required };

// Functions throw StructureError. May be used on several threads.
class SourceFile {
 public:
  // Throws unless the path is that of a complete HDF5 file that no other process is writing; when
  // the checksum in its last line is wrong; and when there is none and one is required.
  SourceFile(const std::filesystem::path& path, Checksum checksum);

  const std::filesystem::path& path() const { return path_; }
  // The root group.
  Address root() const { return root_; }
  std::uint64_t size() const { return end_ - base_; }
  // The number of bytes from an address to the end of the file; 0 past it and in the superblock.
  std::uint64_t bytes_from(Address address) const;
  // Throws when the file has no such bytes, or they cannot be read.
  void read(Address address, std::span<std::byte> bytes) const;

 private:
  void read_superblock();
  void check_last_line(Checksum checksum) const;

  std::filesystem::path path_;
  OpenFile bytes_;
  std::uint64_t base_ = 0;  // where the superblock is
  std::uint64_t end_ = 0;   // counted from the start of all data
  Address root_ = 0;
};

}  // namespace weft::hdf5
