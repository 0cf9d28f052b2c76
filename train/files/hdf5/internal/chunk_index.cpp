#include "train/files/hdf5/internal/chunk_index.hpp"

#include <algorithm>
#include <bit>

#include "train/files/hdf5/internal/bytes.hpp"

// "Disk Format: Level 1A1 - Version 1 B-trees" and "Level 1A2 - Version 2 B-trees" in the HDF5 File
// Format Specification.

// "Appendix C: Types of Indexes for Dataset Chunks" in the HDF5 File Format Specification.

namespace weft::hdf5 {

namespace {

constexpr std::uint64_t address_size = 8;

// Visits the nodes of a B-tree of version 2.
struct RecordNodes {
  static constexpr std::uint64_t overhead = 10;  // signature, version, type and checksum

  Metadata& metadata;
  const std::function<void(Cursor)>& visit;
  std::uint64_t record_size = 0;
  std::size_t count_bytes = 0;
  std::vector<std::size_t> total_bytes = {};  // size of a number of records, by level

  // Returns the size of a pointer to a child of a node.
  std::uint64_t pointer_size(unsigned level) const {
    return level == 0 ? 0 : address_size + count_bytes + total_bytes[std::size_t{level} - 1];
  }
  void visit_node(Address address, std::uint64_t records, unsigned level) const {
    const std::uint64_t children = level == 0 ? 0 : records + 1;
    Cursor node = metadata.read_checked(
        address, overhead + records * record_size + children * pointer_size(level),
        level == 0 ? "BTLF" : "BTIN");
    node.skip(2);
    for (std::uint64_t i = 0; i < records; ++i) visit(node.part(record_size));
    for (std::uint64_t i = 0; i < children; ++i) {
      const Address child = node.address();
      const std::uint64_t count = node.number(count_bytes);
      node.skip(total_bytes[std::size_t{level} - 1]);
      visit_node(child, count, level - 1);
    }
  }
};

}  // namespace

std::size_t bytes_for(std::uint64_t limit) {
  return (static_cast<std::size_t>(std::bit_width(limit)) + 7) / 8;
}

// The depth of the recursion is limited, because the level decreases from parent to child.
void visit_tree(Metadata& metadata, Address node, TreeOf kind, std::size_t key_size,
                const std::function<void(Cursor key, Address)>& visit,
                std::optional<unsigned> expected_level) {
  constexpr std::uint64_t header_size = 24;
  constexpr unsigned max_level = 32;
  Cursor header = metadata.read(node, header_size, "TREE");
  if (header.byte() != static_cast<unsigned>(kind)) fail_with_damage("a tree of the wrong kind");
  const unsigned level = header.byte();
  if (expected_level ? level != *expected_level : level > max_level)
    fail_with_damage("a tree of inconsistent depth");
  const std::uint64_t children = header.number(2);
  Cursor entries = metadata.read(node + header_size, children * (key_size + address_size));
  for (std::uint64_t i = 0; i < children; ++i) {
    const Cursor key = entries.part(key_size);
    const Address child = entries.address();
    if (level == 0)
      visit(key, child);
    else
      visit_tree(metadata, child, kind, key_size, visit, level - 1);
  }
}

void visit_records(Metadata& metadata, Address tree,
                   const std::function<void(Cursor record)>& visit) {
  constexpr std::uint64_t header_size = 38, overhead = RecordNodes::overhead;
  constexpr unsigned max_depth = 16;
  RecordNodes nodes{metadata, visit};
  Cursor header = metadata.read_checked(tree, header_size, "BTHD");
  header.skip(2);
  const std::uint64_t node_size = header.number(4);
  nodes.record_size = header.number(2);
  const unsigned depth = header.short_number();
  header.skip(2);
  const Address root = header.address();
  const std::uint64_t records = header.number(2);
  const auto check = [](bool valid) {
    if (!valid) fail_with_damage("a tree of inconsistent sizes");
  };
  check(nodes.record_size > 0 && node_size >= overhead + nodes.record_size && depth <= max_depth);
  // The maximum number of records below a node determines the sizes of the stored numbers.
  std::uint64_t in_node = (node_size - overhead) / nodes.record_size;
  std::uint64_t below = in_node;  // the number of records in a node and below it
  nodes.count_bytes = bytes_for(in_node);
  nodes.total_bytes.push_back(0);
  for (unsigned level = 1; level <= depth; ++level) {
    const std::uint64_t pointer = nodes.pointer_size(level);
    check(node_size >= overhead + pointer + nodes.record_size && below <= std::uint64_t{1} << 40);
    in_node = (node_size - overhead - pointer) / (nodes.record_size + pointer);
    below = (in_node + 1) * below + in_node;
    nodes.total_bytes.push_back(bytes_for(below));
  }
  if (root != undefined_address) nodes.visit_node(root, records, depth);
}

namespace {

// The size of a block's head: signature, version, type, and address of the array.
constexpr std::uint64_t head_size = 14;

void check(bool valid) {
  if (!valid) fail_with_damage("an index of inconsistent sizes");
}

struct Entries {
  Metadata& metadata;
  const EntryVisitor& visit;
  std::uint64_t size;      // size of an entry
  std::uint64_t per_page;  // larger blocks are divided into pages

  std::uint64_t pages_in(std::uint64_t count) const {
    return count <= per_page ? 0 : (count - 1) / per_page + 1;
  }
  void add(std::uint64_t first, Cursor entries) const {
    while (!entries.rest().empty()) visit(first++, entries.part(size));
  }
  // Adds the entries of the pages that were written, as indicated by one bit for each page,
  // starting with number `bit`.
  void add_pages(std::uint64_t first, std::uint64_t count, Address at, Bytes written,
                 std::uint64_t bit = 0) const {
    for (std::uint64_t page = 0; page < pages_in(count); ++page, ++bit) {
      const std::uint64_t before = page * per_page, own = std::min(per_page, count - before);
      if (std::to_integer<unsigned>(written[bit / 8] << (bit % 8) & std::byte{0x80}) != 0)
        add(first + before, metadata.read_checked(at, own * size + checksum_size, ""));
      at += own * size + checksum_size;
    }
  }
};

}  // namespace

void visit_fixed_array(Metadata& metadata, Address array, const EntryVisitor& visit) {
  constexpr std::uint64_t header_size = 28, max_entries = std::uint64_t{1} << 32;
  Cursor header = metadata.read_checked(array, header_size, "FAHD");
  header.skip(2);
  const std::uint64_t entry_size = header.byte();
  const unsigned page_bits = header.byte();
  const std::uint64_t count = header.number(8);
  const Address at = header.address();
  if (at == undefined_address) return;
  check(entry_size > 0 && page_bits <= 31);
  if (count > max_entries) fail_structure(str_cat("at most ", max_entries, " chunks"), count);
  const Entries entries{metadata, visit, entry_size, std::uint64_t{1} << page_bits};
  const std::uint64_t pages = entries.pages_in(count);
  const std::uint64_t block_size =
      head_size + (pages > 0 ? (pages + 7) / 8 : count * entry_size) + checksum_size;
  Cursor block = metadata.read_checked(at, block_size, "FADB");
  block.skip(head_size - 4);
  if (pages > 0)
    entries.add_pages(0, count, at + block_size, block.rest());
  else
    entries.add(0, block);
}

// The first entries are in the index block. They are followed by groups ("super blocks") of data
// blocks: group g consists of 2^(g/2) blocks, each 2^((g+1)/2) times as large as the smallest
// block. The index block contains the addresses of the blocks of the first groups and, for each
// other group, the address of a list of its blocks.
void visit_extensible_array(Metadata& metadata, Address array, const EntryVisitor& visit) {
  constexpr std::uint64_t header_size = 72;
  constexpr unsigned max_bits = 48;
  Cursor header = metadata.read_checked(array, header_size, "EAHD");
  header.skip(2);
  const std::uint64_t entry_size = header.byte();
  const unsigned index_bits = header.byte();
  const std::uint64_t in_index = header.byte(), smallest = header.byte();
  const unsigned min_pointers = header.byte(), page_bits = header.byte();
  header.skip(6 * 8);
  const Address index_address = header.address();
  if (index_address == undefined_address) return;
  check(entry_size > 0 && index_bits <= max_bits && page_bits <= 31 &&
        std::has_single_bit(smallest) && std::has_single_bit(min_pointers));
  const auto log2 = [](std::uint64_t power) {
    return static_cast<unsigned>(std::countr_zero(power));
  };
  const unsigned direct = 2 * log2(min_pointers), groups = index_bits + 1 - log2(smallest);
  check(log2(smallest) <= index_bits && direct <= groups);

  const Entries entries{metadata, visit, entry_size, std::uint64_t{1} << page_bits};
  const std::uint64_t block_head_size = head_size + (index_bits + 7) / 8;
  const auto add_block = [&](Address at, std::uint64_t first, std::uint64_t count, Bytes written,
                             std::uint64_t bit) {
    if (at == undefined_address) return;
    const bool is_paged = entries.pages_in(count) > 0;
    const std::uint64_t size =
        block_head_size + (is_paged ? 0 : count * entry_size) + checksum_size;
    Cursor block = metadata.read_checked(at, size, "EADB");
    block.skip(block_head_size - 4);
    if (is_paged)
      entries.add_pages(first, count, at + size, written, bit);
    else
      entries.add(first, block);
  };

  const std::uint64_t direct_blocks = 2 * (std::uint64_t{min_pointers} - 1);
  Cursor index =
      metadata.read_checked(index_address,
                            head_size + in_index * entry_size +
                                address_size * (direct_blocks + groups - direct) + checksum_size,
                            "EAIB");
  index.skip(head_size - 4);
  entries.add(0, index.part(in_index * entry_size));
  std::uint64_t first = in_index;
  for (unsigned group = 0; group < groups; ++group) {
    const std::uint64_t blocks = std::uint64_t{1} << group / 2;
    const std::uint64_t count = smallest << (group + 1) / 2;  // number of entries in a block
    const std::uint64_t pages = entries.pages_in(count);      // number of pages in a block
    const std::uint64_t bitmap_size = blocks * ((pages + 7) / 8);
    Cursor addresses = index;
    Bytes written;
    if (group < direct) {
      check(pages == 0);
      index.skip(blocks * address_size);
    } else if (const Address list = index.address(); list != undefined_address) {
      addresses = metadata.read_checked(
          list, block_head_size + bitmap_size + blocks * address_size + checksum_size, "EASB");
      addresses.skip(block_head_size - 4);
      written = addresses.take(bitmap_size);
    } else {
      first += blocks * count;
      continue;
    }
    for (std::uint64_t block = 0; block < blocks; ++block, first += count)
      add_block(addresses.address(), first, count, written, block * pages);
  }
}

}  // namespace weft::hdf5
