// Filters: what the chunks of a dataset went through before they were stored.
#pragma once

#include <cstdint>
#include <vector>

#include "train/files/hdf5/internal/bytes.hpp"

namespace weft::hdf5 {

class Filters {
 public:
  // None.
  Filters() = default;
  // Those that a message describes, in the order in which they were applied. Throws StructureError
  // for filters other than deflate, shuffle, fletcher32 and h5py's LZF, for one that stands there
  // twice, and for a damaged message.
  explicit Filters(Cursor message);

  bool empty() const { return filters_.empty(); }
  // Undoes the filters, except for the skipped ones (a bit each). Throws StructureError unless the
  // result has exactly `size` bytes. Needs memory of three times that at most.
  std::vector<std::byte> undo(std::vector<std::byte> stored, std::uint32_t skipped,
                              std::uint64_t size) const;

 private:
  enum class Id : unsigned { deflate = 1, shuffle = 2, fletcher32 = 3, lzf = 32000 };
  struct Filter {
    Id id;
    std::uint64_t parameter;  // the first one: the element's size for shuffle
  };
  std::vector<Filter> filters_;
};

}  // namespace weft::hdf5
