// Dense storage: links and attributes of large groups in newer files, in a fractal heap that
// B-trees of version 2 refer to.
#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "train/hdf5/internal/metadata.hpp"

namespace weft::hdf5 {

// Where a header's message, "Link Info" or "Attribute Info", says that they are. The heap's address
// is undefined when all of them are in the header.
struct DenseStorage {
  Address heap;
  Address names;  // a B-tree of version 2
};

// `index_size`: the size in bytes of the number that such a message may have first.
DenseStorage read_dense_storage(Bytes message, std::size_t index_size, const Location& location);

// Calls `visit` with each record of a B-tree of version 2. Throws FileError for a damaged tree.
void visit_records(Metadata& metadata, Address tree, const Location& location,
                   const std::function<void(Bytes record)>& visit);

class FractalHeap {
 public:
  // Reads the header. Throws FileError for a damaged one and for a heap with filters. `location`
  // must outlive the object.
  FractalHeap(Metadata& metadata, Address address, const Location& location);

  // Returns whether the heap contains the object of an identifier itself: large ones are elsewhere.
  static bool contains(Bytes identifier);
  // The object of an identifier, valid as long as the heap. Throws FileError for a damaged heap,
  // and for an object that the heap does not contain itself.
  Bytes read(Metadata& metadata, Bytes identifier) const;

 private:
  struct Block {
    Address address;
    std::uint64_t offset;  // of its first byte in the heap
    std::uint64_t size;
  };
  std::uint64_t row_size(unsigned row) const;
  // The direct block with the byte at `offset` of the heap.
  Block find(Metadata& metadata, std::uint64_t offset) const;
  std::vector<std::byte> read_indirect(Metadata& metadata, Address address, unsigned rows) const;
  std::vector<std::byte> read_direct(Metadata& metadata, const Block& block) const;
  // The block at an address: what `read` returned when it was needed first.
  template <class Read>
  Bytes once(Address address, const Read& read) const;

  const Location& location_;
  bool has_checksums_ = false;  // in direct blocks
  unsigned width_ = 0;
  std::uint64_t start_size_ = 0;
  std::uint64_t max_direct_size_ = 0;
  std::size_t offset_bytes_ = 0;
  std::size_t length_bytes_ = 0;
  std::uint64_t head_size_ = 0;  // of a block, before its entries or checksum
  Address root_ = undefined_address;
  unsigned rows_ = 0;      // of the root; 0 when it is a direct block
  unsigned max_rows_ = 0;  // whose sizes are numbers of 64 bits
  mutable std::unordered_map<Address, std::vector<std::byte>> blocks_;
};

}  // namespace weft::hdf5
