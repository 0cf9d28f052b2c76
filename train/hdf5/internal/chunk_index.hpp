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
  // Along each axis: the elements of a chunk, and the chunks.
  const std::vector<Index>& sizes() const { return sizes_; }
  const std::vector<Index>& chunks() const { return chunks_; }

 private:
  std::vector<Index> sizes_;
  std::vector<Index> chunks_;
  std::size_t count_ = 1;
  std::uint64_t bytes_ = 0;
};

// All chunks in row-major order. Throws FileError when one is missing, twice there, of another size
// than it must have, or not in the file.
std::vector<Chunk> find_chunks(Metadata& metadata, const ChunkedData& data, const ChunkGrid& grid,
                               const Location& location);

}  // namespace weft::hdf5
