#include "train/files/hdf5/internal/dense_storage.hpp"

#include <algorithm>
#include <bit>

#include "train/files/hdf5/internal/checksum.hpp"
#include "train/files/hdf5/internal/trees.hpp"

// "Disk Format: Level 1G - Fractal Heap" in the HDF5 File Format Specification.
namespace weft::hdf5 {
namespace {

constexpr std::uint64_t address_size = 8;

template <class Number>
unsigned bits_of(Number number) {
  return static_cast<unsigned>(std::bit_width(number));
}

}  // namespace

FractalHeap::FractalHeap(Metadata& metadata, Address address) {
  constexpr std::uint64_t header_size = 146;
  constexpr unsigned with_checksums = 0x02;
  Cursor header = metadata.read(address, header_size);
  const Bytes bytes = header.rest();
  header.expect("FRHP");
  header.skip(3);
  // With filters, the header would be longer.
  if (header.number(2) != 0) fail_unsupported("links or attributes with filters");
  without_checksum(bytes);
  has_checksums_ = (header.byte() & with_checksums) != 0;
  const std::uint64_t max_object_size = header.number(4);
  header.skip(96);
  width_ = header.short_number();
  start_size_ = header.number(8);
  max_direct_size_ = header.number(8);
  const std::uint64_t heap_bits = header.number(2);
  header.skip(2);
  const Address root = header.address();
  const unsigned rows = header.short_number();
  if (width_ == 0 || !std::has_single_bit(start_size_) || !std::has_single_bit(max_direct_size_) ||
      start_size_ > max_direct_size_ || max_direct_size_ > (std::uint64_t{1} << 32) ||
      heap_bits > 64)
    fail_with_damage("a heap of contradictory sizes");
  offset_bytes_ = (heap_bits + 7) / 8;
  head_size_ = 13 + offset_bytes_;
  length_bytes_ = std::min(bytes_for(max_direct_size_ - 1), bytes_for(max_object_size));
  max_rows_ = 62 - std::min(61u, bits_of(start_size_) + bits_of(width_));
  if (root != undefined_address) add(metadata, root, 0, start_size_, rows);
}

std::uint64_t FractalHeap::row_size(unsigned row) const {
  return row == 0 ? start_size_ : start_size_ << (row - 1);
}

void FractalHeap::add(Metadata& metadata, Address address, std::uint64_t offset, std::uint64_t size,
                      unsigned rows) {
  if (rows == 0) {
    blocks_.emplace(offset, read_direct(metadata, address, size));
    return;
  }
  Cursor children = metadata.read_checked(
      address, head_size_ + address_size * rows * width_ + checksum_size, "FHIB");
  children.skip(head_size_ - 4);
  const unsigned direct_rows = bits_of(max_direct_size_) - bits_of(start_size_) + 2;
  // Rows have `width_` blocks of the same size. The rows of a child add up to its size.
  for (unsigned row = 0; row < std::min(rows, max_rows_); ++row) {
    const unsigned child_rows =
        row < direct_rows ? 0 : bits_of(row_size(row)) - bits_of(start_size_ * width_) + 1;
    for (unsigned column = 0; column < width_; ++column) {
      const Address child = children.address();
      if (child != undefined_address) add(metadata, child, offset, row_size(row), child_rows);
      offset += row_size(row);
    }
  }
}

Cursor FractalHeap::read_direct(Metadata& metadata, Address address, std::uint64_t size) const {
  const Cursor block = metadata.read(address, size);
  Cursor head = block;
  head.expect("FHDB");
  if (!has_checksums_) return block;
  head.skip(head_size_ - 4);
  const std::uint64_t checksum = head.number(checksum_size);
  // It is that of the block with zeros in its place.
  std::vector<std::byte> bytes(block.rest().begin(), block.rest().end());
  std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(head_size_), checksum_size, std::byte{0});
  check_checksum(checksum, bytes);
  return block;
}

std::optional<Cursor> FractalHeap::find(Cursor identifier) const {
  if (identifier.byte() >> 4 != 0) return std::nullopt;
  const std::uint64_t offset = identifier.number(offset_bytes_);
  const std::uint64_t length = identifier.number(length_bytes_);
  const auto after = blocks_.upper_bound(offset);
  if (after == blocks_.begin()) fail_with_damage("a heap without the object");
  const auto& [block_offset, block] = *std::prev(after);
  Cursor object = block;
  object.skip(offset - block_offset);
  return object.part(length);
}

void visit_dense(Metadata& metadata, Cursor message, std::size_t index_size,
                 const std::function<void(Cursor record, const FractalHeap&)>& visit) {
  constexpr unsigned with_index = 0x01;
  message.skip(1);
  if ((message.byte() & with_index) != 0) message.skip(index_size);
  const Address heap_address = message.address(), names = message.address();
  if (heap_address == undefined_address) return;
  const FractalHeap heap(metadata, heap_address);
  visit_records(metadata, names, [&](Cursor record) { visit(std::move(record), heap); });
}

}  // namespace weft::hdf5
