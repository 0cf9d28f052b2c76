// Metadata: reads a file's structures, with a limit on how much one operation reads.
#pragma once

#include <cstdint>
#include <string_view>

#include "train/files/hdf5/internal/cursor.hpp"
#include "train/files/hdf5/internal/source_file.hpp"

namespace weft::hdf5 {

// One operation: opening an object, listing groups. A structure that refers to itself, or to
// another one many times, reaches the limit soon; nothing else has to look for cycles.
class Metadata {
 public:
  explicit Metadata(const SourceFile& file);

  const SourceFile& file() const { return file_; }
  // The bytes after a signature that the structure begins with. Throws StructureError as
  // SourceFile does, for another signature, and past the limit.
  Cursor read(Address address, std::uint64_t size, std::string_view signature = {});
  // The same, of the bytes before the checksum at the end, which it throws for unless it is theirs.
  Cursor read_checked(Address address, std::uint64_t size, std::string_view signature);

 private:
  const SourceFile& file_;
  std::uint64_t limit_ = 0;
  std::uint64_t left_ = 0;
};

}  // namespace weft::hdf5
