// Dense storage: links and attributes of large groups in newer files, in a fractal heap that a
// B-tree of version 2 refers to.
#pragma once

#include <functional>
#include <map>
#include <optional>

#include "train/files/hdf5/internal/metadata.hpp"

namespace weft::hdf5 {

class FractalHeap {
 public:
  // Reads all blocks. Throws StructureError for a damaged heap and for one with filters.
  FractalHeap(Metadata& metadata, Address address);

  // The object of an identifier; none when it is elsewhere, as large ones are. Throws
  // StructureError for one that is not in the heap.
  std::optional<Cursor> find(Cursor identifier) const;

 private:
  std::uint64_t row_size(unsigned row) const;
  // Adds the direct block of `size` bytes at `offset` of the heap or, when there are `rows`, all
  // blocks below an indirect one.
  void add(Metadata& metadata, Address address, std::uint64_t offset, std::uint64_t size,
           unsigned rows);
  Cursor read_direct(Metadata& metadata, Address address, std::uint64_t size) const;

  bool has_checksums_ = false;  // in direct blocks
  unsigned width_ = 0;
  std::uint64_t start_size_ = 0;
  std::uint64_t max_direct_size_ = 0;
  std::size_t offset_bytes_ = 0;
  std::size_t length_bytes_ = 0;
  std::uint64_t head_size_ = 0;             // of a block, before its entries or checksum
  unsigned max_rows_ = 0;                   // whose sizes are numbers of 64 bits
  std::map<std::uint64_t, Cursor> blocks_;  // the direct ones, by offset
};

// Calls `visit` with each record of the tree by name that a message, "Link Info" or "Attribute
// Info", refers to; none when all links or attributes are in the header. `index_size`: the size in
// bytes of the number that such a message may have first.
void visit_dense(Metadata& metadata, Cursor message, std::size_t index_size,
                 const std::function<void(Cursor record, const FractalHeap&)>& visit);

}  // namespace weft::hdf5
