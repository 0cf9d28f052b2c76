#include "train/files/hdf5/internal/trees.hpp"

#include <bit>

// "Disk Format: Level 1A1 - Version 1 B-trees" and "Level 1A2 - Version 2 B-trees" in the HDF5 File
// Format Specification.
namespace weft::hdf5 {
namespace {

constexpr std::uint64_t address_size = 8;

// The nodes of a tree of version 2.
struct RecordNodes {
  static constexpr std::uint64_t overhead = 10;  // signature, version, type and checksum

  Metadata& metadata;
  const std::function<void(Cursor)>& visit;
  std::uint64_t record_size = 0;
  std::size_t count_bytes = 0;
  std::vector<std::size_t> total_bytes = {};  // by level

  // Of a child of a node.
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

// The level of a node is one less than that of its parent, so the depth is limited.
void visit_tree(Metadata& metadata, Address node, TreeOf kind, std::size_t key_size,
                const std::function<void(Cursor key, Address)>& visit,
                std::optional<unsigned> expected_level) {
  constexpr std::uint64_t header_size = 24;
  constexpr unsigned max_level = 32;
  Cursor header = metadata.read(node, header_size, "TREE");
  if (header.byte() != static_cast<unsigned>(kind)) fail_with_damage("a tree of another kind");
  const unsigned level = header.byte();
  if (expected_level ? level != *expected_level : level > max_level)
    fail_with_damage("a tree of contradictory depth");
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
    if (!valid) fail_with_damage("a tree of contradictory sizes");
  };
  check(nodes.record_size > 0 && node_size >= overhead + nodes.record_size && depth <= max_depth);
  // How many records a node of each level may have decides on the sizes of their numbers.
  std::uint64_t in_node = (node_size - overhead) / nodes.record_size;
  std::uint64_t below = in_node;  // with all levels below it
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

}  // namespace weft::hdf5
