#include "train/hdf5/internal/dense_storage.hpp"

#include <algorithm>
#include <bit>

#include "train/hdf5/internal/checksum.hpp"

// "Disk Format: Level 1A2 - Version 2 B-trees" and "Level 1G - Fractal Heap" in the HDF5 File
// Format Specification.
namespace weft::hdf5 {
namespace {

constexpr std::uint64_t address_size = 8;

// The number of bytes of numbers up to `limit`.
std::size_t bytes_for(std::uint64_t limit) {
  return (static_cast<std::size_t>(std::bit_width(limit)) + 7) / 8;
}

class Records {
 public:
  Records(Metadata& metadata, const Location& location, const std::function<void(Bytes)>& visit)
      : metadata_(metadata), location_(location), visit_(visit) {}

  void tree(Address address) {
    constexpr std::uint64_t header_size = 38;
    constexpr unsigned max_depth = 16;
    const std::vector<std::byte> bytes = metadata_.read_checked(address, header_size, location_);
    Cursor header(bytes, location_);
    header.expect("BTHD");
    header.skip(2);
    const std::uint64_t node_size = header.number(4);
    record_size_ = header.number(2);
    const auto depth = static_cast<unsigned>(header.number(2));
    header.skip(2);
    const Address root = header.address();
    const std::uint64_t records = header.number(2);
    if (record_size_ == 0 || node_size < overhead + record_size_ || depth > max_depth)
      fail_with_damage(location_, "a tree of contradictory sizes");
    // How many records a node of each level may have decides on the sizes of their numbers.
    std::uint64_t in_node = (node_size - overhead) / record_size_;
    std::uint64_t below = in_node;  // with all levels below it
    count_bytes_ = bytes_for(in_node);
    total_bytes_.push_back(0);
    for (unsigned level = 1; level <= depth; ++level) {
      const std::uint64_t pointer = 8 + count_bytes_ + total_bytes_.back();
      if (node_size < overhead + pointer + record_size_ || below > (std::uint64_t{1} << 40))
        fail_with_damage(location_, "a tree of contradictory sizes");
      in_node = (node_size - overhead - pointer) / (record_size_ + pointer);
      below = (in_node + 1) * below + in_node;
      total_bytes_.push_back(bytes_for(below));
    }
    if (root != undefined_address) node(root, records, depth);
  }

 private:
  static constexpr std::uint64_t overhead = 10;  // signature, version, type and checksum

  void node(Address address, std::uint64_t records, unsigned level) {
    const std::uint64_t pointer =
        level == 0 ? 0 : 8 + count_bytes_ + total_bytes_[std::size_t{level} - 1];
    const std::vector<std::byte> bytes = metadata_.read_checked(
        address, overhead + records * record_size_ + (level == 0 ? 0 : (records + 1) * pointer),
        location_);
    Cursor cursor(bytes, location_);
    cursor.expect(level == 0 ? "BTLF" : "BTIN");
    cursor.skip(2);
    for (std::uint64_t i = 0; i < records; ++i) visit_(cursor.take(record_size_));
    for (std::uint64_t i = 0; level > 0 && i <= records; ++i) {
      const Address child = cursor.address();
      const std::uint64_t count = cursor.number(count_bytes_);
      cursor.skip(total_bytes_[std::size_t{level} - 1]);
      node(child, count, level - 1);
    }
  }

  Metadata& metadata_;
  const Location& location_;
  const std::function<void(Bytes)>& visit_;
  std::uint64_t record_size_ = 0;
  std::size_t count_bytes_ = 0;
  std::vector<std::size_t> total_bytes_;  // by level
};

}  // namespace

DenseStorage read_dense_storage(Bytes message, std::size_t index_size, const Location& location) {
  constexpr unsigned with_index = 0x01;
  Cursor cursor(message, location);
  cursor.skip(1);
  if ((cursor.byte() & with_index) != 0) cursor.skip(index_size);
  const Address heap = cursor.address();
  return {heap, cursor.address()};
}

void visit_records(Metadata& metadata, Address tree, const Location& location,
                   const std::function<void(Bytes record)>& visit) {
  Records(metadata, location, visit).tree(tree);
}

FractalHeap::FractalHeap(Metadata& metadata, Address address, const Location& location)
    : location_(location) {
  constexpr std::uint64_t header_size = 146;
  constexpr unsigned with_checksums = 0x02;
  const std::vector<std::byte> bytes = metadata.read(address, header_size, location);
  Cursor header(bytes, location);
  header.expect("FRHP");
  header.skip(3);
  // With filters, the header would be longer.
  if (header.number(2) != 0) fail_unsupported(location, "links or attributes with filters");
  without_checksum(bytes, location);
  has_checksums_ = (header.byte() & with_checksums) != 0;
  const std::uint64_t max_object_size = header.number(4);
  header.skip(96);
  width_ = header.short_number();
  start_size_ = header.number(8);
  max_direct_size_ = header.number(8);
  const std::uint64_t heap_bits = header.number(2);
  header.skip(2);
  root_ = header.address();
  rows_ = header.short_number();
  if (width_ == 0 || !std::has_single_bit(start_size_) || !std::has_single_bit(max_direct_size_) ||
      start_size_ > max_direct_size_ || max_direct_size_ > (std::uint64_t{1} << 32) ||
      heap_bits > 64)
    fail_with_damage(location, "a heap of contradictory sizes");
  offset_bytes_ = (heap_bits + 7) / 8;
  head_size_ = 13 + offset_bytes_;
  length_bytes_ = std::min(bytes_for(max_direct_size_ - 1), bytes_for(max_object_size));
  const auto bits = static_cast<unsigned>(std::bit_width(start_size_)) +
                    static_cast<unsigned>(std::bit_width(width_));
  max_rows_ = 62 - std::min(61u, bits);
}

std::uint64_t FractalHeap::row_size(unsigned row) const {
  return row == 0 ? start_size_ : start_size_ << (row - 1);
}

std::vector<std::byte> FractalHeap::read_indirect(Metadata& metadata, Address address,
                                                  unsigned rows) const {
  std::vector<std::byte> bytes = metadata.read_checked(
      address, head_size_ + address_size * rows * width_ + checksum_size, location_);
  Cursor(bytes, location_).expect("FHIB");
  return bytes;
}

std::vector<std::byte> FractalHeap::read_direct(Metadata& metadata, const Block& block) const {
  std::vector<std::byte> bytes = metadata.read(block.address, block.size, location_);
  Cursor head(bytes, location_);
  head.expect("FHDB");
  if (!has_checksums_) return bytes;
  head.skip(head_size_ - 4);
  const std::uint64_t checksum = head.number(checksum_size);
  // It is that of the block with zeros in its place.
  std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(head_size_), checksum_size, std::byte{0});
  check_checksum(checksum, bytes, location_);
  return bytes;
}

template <class Read>
Bytes FractalHeap::once(Address address, const Read& read) const {
  const auto known = blocks_.find(address);
  return known != blocks_.end() ? known->second : blocks_.emplace(address, read()).first->second;
}

FractalHeap::Block FractalHeap::find(Metadata& metadata, std::uint64_t offset) const {
  Block block{root_, 0, start_size_};
  if (rows_ == 0) return block;
  const unsigned direct_rows =
      static_cast<unsigned>(std::bit_width(max_direct_size_) - std::bit_width(start_size_)) + 2;
  // An indirect block has rows of `width_` blocks of the same size.
  for (unsigned rows = rows_;;) {
    unsigned row = 0;
    std::uint64_t begin = block.offset;  // of the row in the heap
    const unsigned end = std::min(rows, max_rows_);
    while (row < end && offset - begin >= row_size(row) * width_) {
      begin += row_size(row) * width_;
      ++row;
    }
    if (row == end) fail_with_damage(location_, "a heap without the object");
    const std::uint64_t column = (offset - begin) / row_size(row);
    const Bytes children =
        once(block.address, [&] { return read_indirect(metadata, block.address, rows); });
    Cursor child(children, location_);
    child.skip(head_size_ + address_size * (std::uint64_t{row} * width_ + column));
    block = {child.address(), begin + column * row_size(row), row_size(row)};
    if (row < direct_rows) return block;
    // The child's rows add up to its size.
    rows = static_cast<unsigned>(std::bit_width(row_size(row)) -
                                 std::bit_width(start_size_ * width_)) +
           1;
  }
}

bool FractalHeap::contains(Bytes identifier) {
  return !identifier.empty() && std::to_integer<unsigned>(identifier[0]) >> 4 == 0;
}

Bytes FractalHeap::read(Metadata& metadata, Bytes identifier) const {
  if (!contains(identifier)) fail_unsupported(location_, "an object of unusual size");
  Cursor cursor(identifier, location_);
  cursor.skip(1);
  const std::uint64_t offset = cursor.number(offset_bytes_);
  const std::uint64_t length = cursor.number(length_bytes_);
  const Block block = find(metadata, offset);
  Cursor object(once(block.address, [&] { return read_direct(metadata, block); }), location_);
  object.skip(offset - block.offset);
  return object.take(length);
}

}  // namespace weft::hdf5
