// The data of a dataset: where they are stored, and what is read where they are not.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "train/files/hdf5/internal/bytes.hpp"
#include "train/files/hdf5/internal/elements.hpp"
#include "train/files/hdf5/internal/filters.hpp"
#include "train/files/hdf5/internal/objects.hpp"

namespace weft::hdf5 {

// FillValue: what those elements of a dataset are that were never written.

class FillValue {
 public:
  // As a dataset's header says; zero when it says nothing. Throws StructureError for a damaged
  // message.
  explicit FillValue(const ObjectHeader& header);

  // Throws StructureError unless there is a value of `element_bytes`, for `elements` of them: a
  // small file must not take any amount of memory.
  void check(std::uint64_t elements, std::uint64_t element_bytes) const;
  // Sets whole elements to the value, after `check`.
  void fill(std::span<std::byte> elements) const;

 private:
  bool is_defined_ = true;
  std::vector<std::byte> value_;  // zero when empty
};

// ChunkedData: the elements of a dataset in chunks of one shape, found by any of the indexes that
// HDF5 files have.

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

// StoredData: where the elements of a dataset are in the file.

// Functions throw StructureError.
class StoredData {
 public:
  // As a dataset's header says. Throws for data in other files (external or virtual), filters that
  // are not built in, and a damaged header.
  explicit StoredData(const ObjectHeader& header);

  // Finds the data. Throws unless all elements of this extent, of `element_bytes` each, are stored
  // in the file or have a fill value, and as ChunkedData does.
  void locate(Metadata& metadata, const Extent& extent, std::uint64_t element_bytes);
  // Reads rows first … last - 1 (of the first axis; a scalar is one row), after `locate`. Throws
  // when they cannot be read. Takes memory for a few blocks or chunks.
  void read(const SourceFile& file, Index first, Index last, const ElementSink& sink) const;

 private:
  using Compact = std::vector<std::byte>;
  struct Contiguous {
    Address address;
    std::uint64_t size;
  };

  FillValue fill_;
  std::variant<Compact, Contiguous, ChunkedData> data_;
  Index row_elements_ = 0;
  std::uint64_t element_bytes_ = 0;
};

// DatasetSource: what a StoredDataset reads, whatever the format of its file.

class DatasetSource {
 public:
  DatasetSource(std::string path, ElementType type)
      : path_(std::move(path)), type_(std::move(type)) {}
  virtual ~DatasetSource() = default;

  const std::string& path() const { return path_; }
  const ElementType& type() const { return type_; }
  virtual Location location() const = 0;
  // Throws StructureError.
  virtual Shape shape() const = 0;
  // Throws StructureError unless the file has all elements. May be called on several threads.
  virtual void locate() = 0;
  // Reads rows first … last - 1 (of the first axis; a scalar is one row), after `locate`. Throws
  // StructureError when they cannot be read. May be called on several threads.
  virtual void read(Index first, Index last, const ElementSink& sink) const = 0;
  // Where an element may refer to; null when there is no such place.
  virtual const SourceFile* hdf5_file() const { return nullptr; }

 private:
  std::string path_;
  ElementType type_;
};

// Calls `sink` with `count` elements in blocks, on several threads, which `read` reads: those from
// an offset in bytes on.
void read_in_blocks(Index count, std::uint64_t element_bytes,
                    const std::function<void(std::uint64_t offset, std::span<std::byte>)>& read,
                    const ElementSink& sink);

}  // namespace weft::hdf5
