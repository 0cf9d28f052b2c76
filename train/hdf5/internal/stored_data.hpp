// StoredData: where the elements of a dataset are in the file.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <variant>
#include <vector>

#include "weft/autograd/shape.hpp"
#include "train/hdf5/internal/filters.hpp"
#include "train/hdf5/internal/object_header.hpp"

namespace weft::hdf5 {

// In the order of the elements, of any number at a time; `first` is the index of the first one.
// Parts may come on several threads.
using ElementSink = std::function<void(Index first, Bytes elements)>;

struct ContiguousData {
  Address address;
  std::uint64_t size;
};

struct Chunk {
  Address address = undefined_address;
  std::uint64_t size = 0;  // as stored
  std::uint32_t skipped_filters = 0;
};

// A grid of chunks of the same shape.
struct ChunkedData {
  enum class Index : unsigned { one_chunk = 1, fixed_array = 3, tree = 5, first_version = 0 };

  std::vector<std::uint64_t> sizes;  // of a chunk; the last is that of an element in bytes
  Index index;
  Address address;
  Chunk only;  // of one_chunk with filters
  Filters filters;
};

class StoredData {
 public:
  // As a dataset's header says. Throws FileError for data in other files (external or virtual),
  // filters that are not built in, and a damaged header.
  StoredData(const ObjectHeader& header, const Location& location);

  // Finds the data. Throws FileError unless all elements of this shape, of `element_bytes` each,
  // are stored in the file, and for chunks that are too many, too large or out of proportion.
  void locate(Metadata& metadata, const Shape& shape, std::uint64_t element_bytes,
              const Location& location);
  // Reads rows first … last - 1 (of the first axis; a scalar is one row), after `locate`. Throws
  // FileError when they cannot be read. Takes memory for a few blocks or chunks.
  void read(const SourceFile& file, Index first, Index last, const Location& location,
            const ElementSink& sink) const;

 private:
  void read_contiguous(const SourceFile& file, const ContiguousData& data, Index first, Index last,
                       const Location& location, const ElementSink& sink) const;
  void read_chunked(const SourceFile& file, const ChunkedData& data, Index first, Index last,
                    const Location& location, const ElementSink& sink) const;

  using Compact = std::vector<std::byte>;
  std::variant<Compact, ContiguousData, ChunkedData> data_;
  Shape shape_;
  std::uint64_t element_bytes_ = 0;
  std::vector<Chunk> chunks_;  // in row-major order
};

}  // namespace weft::hdf5
