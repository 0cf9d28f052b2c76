// The data of a dataset: where they are stored, and the fill value for data that are not.
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

// FillValue: the value of elements that were never written.

class FillValue {
 public:
  // Reads the fill value from a dataset's header; the default is zero. Throws StructureError for a
  // damaged message.
  explicit FillValue(const ObjectHeader& header);

  // Throws StructureError if the fill value does not have `element_bytes` bytes, or if there are
  // too many `elements`: a small file must not use an unlimited amount of memory.
  void check(std::uint64_t elements, std::uint64_t element_bytes) const;
  // Sets whole elements to the value, after `check`.
  void fill(std::span<std::byte> elements) const;

 private:
  bool is_defined_ = true;
  std::vector<std::byte> value_;  // empty means zero
};

// ChunkedData: the elements of a dataset in chunks of the same shape, with any of HDF5's indexes.

// Receives elements; `first` is the index of the first of them. Called with any number of elements,
// in any order, possibly by several threads at the same time.
using ElementSink = std::function<void(Index first, Bytes elements)>;

// Functions throw StructureError.
class ChunkedData {
 public:
  // Reads a layout message of version 3 to 5, starting with its properties.
  ChunkedData(Cursor layout, unsigned version, Filters filters, FillValue fill);

  // Finds all chunks of a dataset of this extent; chunks that were never written have the fill
  // value. Throws if there are too many chunks, if chunks are too large or out of proportion to the
  // data, if a chunk is stored twice, has the wrong size or is not in the file, and the same
  // exceptions as FillValue::check.
  void locate(Metadata& metadata, const Extent& extent, std::uint64_t element_bytes);
  // Reads rows [first, last), after `locate`, a chunk at a time.
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
    std::uint64_t size = 0;  // size in the file
    std::uint32_t skipped_filters = 0;
  };
  using Sizes = std::vector<Index>;
  // The position of a chunk in the grid of chunks.
  using Coordinates = std::array<std::uint64_t, Shape::max_rank>;

  void set_grid(const Extent& extent, std::uint64_t element_bytes);
  void add_from_tree_1(Metadata& metadata);
  void add_from_tree_2(Metadata& metadata);
  // Returns the index of a chunk in an array: row-major in the largest grid that the dataset may
  // grow to, with an unlimited axis first.
  Coordinates coordinates_of(std::uint64_t index) const;
  // Reads a chunk of the newer indexes from the next `bytes` bytes.
  Chunk read_entry(Cursor& entry, std::uint64_t bytes) const;
  void add(const SourceFile& file, const Coordinates& coordinates, Chunk chunk);
  // Returns the elements of a chunk.
  std::vector<std::byte> bytes_of(const SourceFile& file, const Chunk& chunk) const;

  Filters filters_;
  FillValue fill_;
  std::vector<std::uint64_t> layout_sizes_;  // sizes of a chunk, then the bytes per element
  IndexKind index_ = IndexKind::tree_1;
  Address address_ = undefined_address;  // address of the index
  Chunk only_;                           // the chunk of one_chunk with filters

  // Along each axis: the elements of the dataset and of a chunk, and the chunks.
  Sizes sizes_, chunk_sizes_, counts_;
  Coordinates limits_{};  // maximum number of chunks along each axis
  std::size_t growing_axis_ = 0;
  std::uint64_t element_bytes_ = 0;
  std::uint64_t chunk_bytes_ = 0;  // size of a chunk before filtering
  std::vector<Chunk> chunks_;      // in row-major order
};

// StoredData: the location of a dataset's elements in the file.

// Functions throw StructureError.
class StoredData {
 public:
  // Reads a dataset's header. Throws for data in other files (external or virtual), for unsupported
  // filters, and for a damaged header.
  explicit StoredData(const ObjectHeader& header);

  // Finds the data. Throws unless all elements of this extent, of `element_bytes` each, are stored
  // in the file or have a fill value, and the same exceptions as ChunkedData.
  void locate(Metadata& metadata, const Extent& extent, std::uint64_t element_bytes);
  // Reads rows [first, last) of the first axis, after `locate`; a scalar is one row. Throws
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

// DatasetSource: the interface through which a StoredDataset reads files of any format.

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
  // Reads rows [first, last) of the first axis, after `locate`; a scalar is one row. Throws
  // StructureError when they cannot be read. May be called on several threads.
  virtual void read(Index first, Index last, const ElementSink& sink) const = 0;
  // Returns the file that elements may refer to; null if they cannot.
  virtual const SourceFile* hdf5_file() const { return nullptr; }

 private:
  std::string path_;
  ElementType type_;
};

// Reads `count` elements in blocks, on several threads, and calls `sink` with each block. `read`
// reads elements from an offset in bytes on.
void read_in_blocks(Index count, std::uint64_t element_bytes,
                    const std::function<void(std::uint64_t offset, std::span<std::byte>)>& read,
                    const ElementSink& sink);

}  // namespace weft::hdf5
