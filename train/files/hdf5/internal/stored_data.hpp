// StoredData: where the elements of a dataset are in the file.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "train/files/hdf5/internal/chunked_data.hpp"
#include "train/files/hdf5/internal/object_header.hpp"

namespace weft::hdf5 {

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

}  // namespace weft::hdf5
