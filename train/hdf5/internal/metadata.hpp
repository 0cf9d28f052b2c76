// Metadata: reads a file's structures, with a limit on how much one operation reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "train/files/open_file.hpp"
#include "train/hdf5/internal/cursor.hpp"
#include "train/hdf5/internal/superblock.hpp"

namespace weft::hdf5 {

// Counts from the superblock.
using Address = std::uint64_t;
inline constexpr Address undefined_address = ~Address{0};

// A file open for reading. May be used on several threads.
class SourceFile {
 public:
  SourceFile(std::filesystem::path path, OpenFile bytes, const Superblock& superblock);

  const std::filesystem::path& path() const { return path_; }
  Address root() const { return superblock_.root; }
  std::uint64_t size() const { return superblock_.end - superblock_.base; }
  // The number of bytes from an address to the end of the file; 0 past it and in the superblock.
  std::uint64_t bytes_from(Address address) const;
  // Throws FileError when the file has no such bytes, or they cannot be read.
  void read(Address address, std::span<std::byte> bytes, const Location& location) const;

 private:
  std::filesystem::path path_;
  OpenFile bytes_;
  Superblock superblock_;
};

// One operation: opening an object, listing groups. A structure that refers to itself, or to
// another one many times, reaches the limit soon; nothing else has to look for cycles.
class Metadata {
 public:
  explicit Metadata(const SourceFile& file);

  const SourceFile& file() const { return file_; }
  // Throws FileError as SourceFile does, and past the limit.
  std::vector<std::byte> read(Address address, std::uint64_t size, const Location& location);
  // The bytes of a structure before the checksum at its end, which it throws for unless it is
  // theirs.
  std::vector<std::byte> read_checked(Address address, std::uint64_t size,
                                      const Location& location);
  // As `read`, of fewer bytes where the file ends.
  std::vector<std::byte> read_up_to(Address address, std::uint64_t size, const Location& location);

 private:
  const SourceFile& file_;
  std::uint64_t limit_ = 0;
  std::uint64_t left_ = 0;
};

}  // namespace weft::hdf5
