// The chunks of a dataset, found by any of the indexes that HDF5 files have.
#pragma once

#include <vector>

#include "train/hdf5/internal/stored_data.hpp"

namespace weft::hdf5 {

// A dataset's grid of chunks.
class ChunkGrid {
 public:
  // Throws FileError for chunks that are too many, too large or out of proportion to the data.
  ChunkGrid(const ChunkedData& data, const Shape& shape, std::uint64_t element_bytes,
            const Location& location);

  std::size_t count() const { return count_; }
  // Of a chunk before the filters.
  std::uint64_t bytes() const { return bytes_; }
  Index rank() const { return static_cast<Index>(per_axis_.size()); }
  std::uint64_t size(Index axis) const { return sizes_[static_cast<std::size_t>(axis)]; }
  std::uint64_t chunks_along(Index axis) const { return per_axis_[static_cast<std::size_t>(axis)]; }

 private:
  std::vector<std::uint64_t> sizes_;
  std::vector<std::uint64_t> per_axis_;
  std::size_t count_ = 1;
  std::uint64_t bytes_ = 0;
};

// All chunks in row-major order. Throws FileError when one is missing, twice there, of another size
// than it must have, or not in the file.
std::vector<Chunk> find_chunks(Metadata& metadata, const ChunkedData& data, const ChunkGrid& grid,
                               const Location& location);

}  // namespace weft::hdf5
