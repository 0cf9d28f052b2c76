// ChunkedData: the elements of a dataset in chunks of one shape, found by any of the indexes that
// HDF5 files have.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "train/files/hdf5/internal/element_type.hpp"
#include "train/files/hdf5/internal/fill_value.hpp"
#include "train/files/hdf5/internal/filters.hpp"
#include "train/files/hdf5/internal/metadata.hpp"

namespace weft::hdf5 {

// Takes elements, of which the first has the index `first`: any number at a time, in any order.
// Parts may come on several threads.
using ElementSink = std::function<void(Index first, Bytes elements)>;

// Functions throw StructureError.
class ChunkedData {
 public:
  // As a layout message of version 3 to 5 says from its properties on.
  ChunkedData(Cursor layout, unsigned version, Filters filters, FillValue fill);

  // Finds all chunks of a dataset of this extent; those that were never written have the fill
  // value. Throws for chunks that are too many, too large or out of proportion to the data, and
  // when one is twice there, of another size than it must have, or not in the file, and as
  // FillValue::check does.
  void locate(Metadata& metadata, const Extent& extent, std::uint64_t element_bytes);
  // Reads rows first … last - 1, after `locate`, a chunk at a time.
  void read(const SourceFile& file, Index first, Index last, const ElementSink& sink) const;

 private:
  enum class IndexKind : unsigned {
    tree_1 = 0,
    one_chunk = 1,
    fixed_array = 3,
    extensible_array = 4,
    tree_2 = 5
  };
  struct Chunk {
    Address address = undefined_address;
    std::uint64_t size = 0;  // as stored
    std::uint32_t skipped_filters = 0;
  };
  using Sizes = std::vector<Index>;
  // Of a chunk in the grid of chunks.
  using Coordinates = std::array<std::uint64_t, Shape::max_rank>;

  void set_grid(const Extent& extent, std::uint64_t element_bytes);
  void add_from_tree_1(Metadata& metadata);
  void add_from_tree_2(Metadata& metadata);
  // The place of a chunk in an array: row-major in the largest grid that the dataset may grow to,
  // with an axis that has no limit as the first one.
  Coordinates coordinates_of(std::uint64_t index) const;
  // A chunk of the newer indexes, which the next `bytes` bytes describe.
  Chunk read_entry(Cursor& entry, std::uint64_t bytes) const;
  void add(const SourceFile& file, const Coordinates& coordinates, Chunk chunk);
  // The elements of a chunk.
  std::vector<std::byte> bytes_of(const SourceFile& file, const Chunk& chunk) const;

  Filters filters_;
  FillValue fill_;
  std::vector<std::uint64_t> layout_sizes_;  // of a chunk; the last is that of an element in bytes
  IndexKind index_ = IndexKind::tree_1;
  Address address_ = undefined_address;  // of the index
  Chunk only_;                           // of one_chunk with filters

  // Along each axis: the elements of the dataset and of a chunk, and the chunks.
  Sizes sizes_, chunk_sizes_, counts_;
  Coordinates limits_{};  // chunks that there may be along each axis
  std::size_t growing_axis_ = 0;
  std::uint64_t element_bytes_ = 0;
  std::uint64_t chunk_bytes_ = 0;  // before the filters
  std::vector<Chunk> chunks_;      // in row-major order
};

}  // namespace weft::hdf5
