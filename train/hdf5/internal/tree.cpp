#include "train/hdf5/internal/tree.hpp"

#include <optional>

// "Disk Format: Level 1A1 - Version 1 B-trees" in the HDF5 File Format Specification.
namespace weft::hdf5 {
namespace {

class Visitor {
 public:
  Visitor(Metadata& metadata, TreeOf kind, std::size_t key_size, const Location& location,
          const std::function<void(Bytes, Address)>& visit)
      : metadata_(metadata), kind_(kind), key_size_(key_size), location_(location), visit_(visit) {}

  // The level of a node is one less than that of its parent, so the depth is limited.
  void node(Address address, std::optional<unsigned> expected_level) {
    constexpr std::uint64_t header_size = 24, address_size = 8;
    const std::vector<std::byte> head = metadata_.read(address, header_size, location_);
    Cursor header(head, location_);
    header.expect("TREE");
    if (header.byte() != static_cast<unsigned>(kind_))
      fail_with_damage(location_, "a tree of another kind");
    const unsigned level = header.byte();
    if (expected_level ? level != *expected_level : level > max_level)
      fail_with_damage(location_, "a tree of contradictory depth");
    const std::uint64_t children = header.number(2);
    const std::vector<std::byte> body =
        metadata_.read(address + header_size, children * (key_size_ + address_size), location_);
    Cursor entries(body, location_);
    for (std::uint64_t i = 0; i < children; ++i) {
      const Bytes key = entries.take(key_size_);
      const Address child = entries.address();
      if (level == 0)
        visit_(key, child);
      else
        node(child, level - 1);
    }
  }

 private:
  static constexpr unsigned max_level = 32;

  Metadata& metadata_;
  TreeOf kind_;
  std::size_t key_size_;
  const Location& location_;
  const std::function<void(Bytes, Address)>& visit_;
};

}  // namespace

void visit_tree(Metadata& metadata, Address root, TreeOf kind, std::size_t key_size,
                const Location& location, const std::function<void(Bytes key, Address)>& visit) {
  Visitor(metadata, kind, key_size, location, visit).node(root, std::nullopt);
}

}  // namespace weft::hdf5
