// Filters: the filters applied to the chunks of a dataset before they were stored.
#pragma once

#include <cstdint>
#include <vector>

#include "train/files/hdf5/internal/bytes.hpp"

namespace weft::hdf5 {

class Filters {
 public:
  // Creates an empty list of filters.
  Filters() = default;
  // Parses the message that lists the filters, in the order in which they were applied. Throws
  // StructureError for filters other than deflate, shuffle, fletcher32 and h5py's LZF, for a
  // repeated filter, and for a damaged message.
  explicit Filters(Cursor message);

  bool empty() const { return filters_.empty(); }
  // Undoes the filters, except for the skipped ones (a bit each). Throws StructureError unless the
  // result has exactly `size` bytes. Needs at most three times as much memory.
  std::vector<std::byte> undo(std::vector<std::byte> stored, std::uint32_t skipped,
                              std::uint64_t size) const;

 private:
  enum class Id : unsigned { deflate = 1, shuffle = 2, fletcher32 = 3, lzf = 32000 };
  struct Filter {
    Id id;
    std::uint64_t parameter;  // first parameter: the element size for shuffle
  };
  std::vector<Filter> filters_;
};

}  // namespace weft::hdf5
