#include "train/hdf5/internal/object_header.hpp"

#include <algorithm>

#include "train/hdf5/internal/checksum.hpp"

// "Disk Format: Level 2A - Data Object Headers" in the HDF5 File Format Specification.
namespace weft::hdf5 {
namespace {

constexpr unsigned with_times = 0x20, with_attribute_limits = 0x10, with_creation_order = 0x04;

}  // namespace

ObjectHeader::ObjectHeader(Metadata& metadata, Address address, const Location& location) {
  constexpr std::uint64_t max_prefix_size = 34;
  const std::vector<std::byte> bytes = metadata.read_up_to(address, max_prefix_size, location);
  Cursor prefix(bytes, location);
  const unsigned version = Cursor(bytes, location).byte();
  unsigned flags = 0;
  std::uint64_t size = 0;
  if (version == 1) {
    prefix.skip(8);
    size = prefix.number(4);
    prefix.skip(4);
  } else {
    prefix.expect("OHDR");
    if (prefix.byte() != 2) fail_with_damage(location, "an object header of an unknown version");
    flags = prefix.byte();
    if ((flags & with_times) != 0) prefix.skip(16);
    if ((flags & with_attribute_limits) != 0) prefix.skip(4);
    size = prefix.number(std::size_t{1} << (flags & 3));
  }
  const std::uint64_t head = bytes.size() - prefix.rest().size();
  if (version == 1)
    read_blocks(metadata, {{address + head, size, 0}}, 1, flags, location);
  else
    read_blocks(metadata, {{address, head + size + checksum_size, head}}, 2, flags, location);
}

void ObjectHeader::read_blocks(Metadata& metadata, std::vector<Block> blocks, unsigned version,
                               unsigned flags, const Location& location) {
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto [block_address, block_size, head] = blocks[i];
    blocks_.push_back(version == 1 ? metadata.read(block_address, block_size, location)
                                   : metadata.read_checked(block_address, block_size, location));
    Cursor block(blocks_.back(), location);
    if (version == 2 && i > 0) block.expect("OCHK");
    block.skip(head);
    // What does not fill a message's own header is a gap.
    const std::size_t header_size = version == 1 ? 8 : (flags & with_creation_order) != 0 ? 6 : 4;
    while (block.rest().size() >= header_size) {
      const auto type = static_cast<MessageType>(block.number(version == 1 ? 2 : 1));
      const std::uint64_t size = block.number(2);
      const unsigned message_flags = block.byte();
      block.skip(version == 1 ? 3 : header_size - 4);
      const Bytes contents = block.take(size);
      if (type == MessageType::continuation) {
        Cursor next(contents, location);
        const Address address = next.address();
        blocks.push_back({address, next.number(8), 0});
      } else {
        messages_.push_back({type, (message_flags & 2) != 0, contents});
      }
    }
  }
}

const Message* ObjectHeader::find(MessageType type) const {
  const auto found = std::ranges::find(messages_, type, &Message::type);
  return found == messages_.end() ? nullptr : &*found;
}

ObjectKind ObjectHeader::kind() const {
  if (find(MessageType::layout)) return ObjectKind::dataset;
  if (find(MessageType::symbol_table) || find(MessageType::link_info) ||
      find(MessageType::group_info) || find(MessageType::link))
    return ObjectKind::group;
  return ObjectKind::other;
}

Bytes ObjectHeader::require(MessageType type, const char* what, const Location& location) const {
  const Message* message = find(type);
  if (!message) fail_at(location, what, "none");
  if (message->shared) fail_unsupported(location, concatenate_text(what, " that is shared"));
  return message->bytes;
}

}  // namespace weft::hdf5
