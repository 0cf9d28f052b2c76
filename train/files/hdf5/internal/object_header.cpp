#include "train/files/hdf5/internal/object_header.hpp"

#include <algorithm>

#include "train/files/hdf5/internal/checksum.hpp"

// "Disk Format: Level 2A - Data Object Headers" in the HDF5 File Format Specification.
namespace weft::hdf5 {
namespace {

constexpr unsigned with_times = 0x20, with_attribute_limits = 0x10, with_creation_order = 0x04;

}  // namespace

ObjectHeader::ObjectHeader(Metadata& metadata, Address address) {
  constexpr std::uint64_t max_prefix_size = 34;
  const Cursor start =
      metadata.read(address, std::min(max_prefix_size, metadata.file().bytes_from(address)));
  const bool is_old = Cursor(start).byte() == 1;
  Cursor prefix = start;
  unsigned flags = 0;
  std::uint64_t size = 0;
  if (is_old) {
    prefix.skip(8);
    size = prefix.number(4);
    prefix.skip(4);
  } else {
    prefix.expect("OHDR");
    if (prefix.byte() != 2) fail_with_damage("an object header of an unknown version");
    flags = prefix.byte();
    if ((flags & with_times) != 0) prefix.skip(16);
    if ((flags & with_attribute_limits) != 0) prefix.skip(4);
    size = prefix.number(std::size_t{1} << (flags & 3));
  }
  const std::uint64_t prefix_size = start.rest().size() - prefix.rest().size();
  // What does not fill a message's own header is a gap.
  const std::size_t header_size = is_old ? 8 : (flags & with_creation_order) != 0 ? 6 : 4;
  struct Block {
    Address address;
    std::uint64_t size;
  };
  std::vector<Block> blocks{{address, prefix_size + size + (is_old ? 0 : checksum_size)}};
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const char* const signature = is_old ? "" : i == 0 ? "OHDR" : "OCHK";
    Cursor block = is_old ? metadata.read(blocks[i].address, blocks[i].size)
                          : metadata.read_checked(blocks[i].address, blocks[i].size, signature);
    if (i == 0) block.skip(prefix_size - std::string_view(signature).size());
    while (block.rest().size() >= header_size) {
      const auto type = static_cast<MessageType>(block.number(is_old ? 2 : 1));
      const std::uint64_t message_size = block.number(2);
      const unsigned message_flags = block.byte();
      block.skip(is_old ? 3 : header_size - 4);
      Cursor contents = block.part(message_size);
      if (type == MessageType::continuation) {
        const Address next = contents.address();
        blocks.push_back({next, contents.number(8)});
      } else {
        messages_.push_back({type, (message_flags & 2) != 0, std::move(contents)});
      }
    }
  }
}

const Message* ObjectHeader::find(MessageType type) const {
  const auto found = std::ranges::find(messages_, type, &Message::type);
  return found == messages_.end() ? nullptr : &*found;
}

ObjectKind ObjectHeader::kind() const {
  if (has(MessageType::layout)) return ObjectKind::dataset;
  if (has(MessageType::symbol_table) || has(MessageType::link_info) ||
      has(MessageType::group_info) || has(MessageType::link))
    return ObjectKind::group;
  return has(MessageType::datatype) ? ObjectKind::named_type : ObjectKind::other;
}

Cursor ObjectHeader::require(MessageType type, const char* what) const {
  const Message* message = find(type);
  if (!message) fail_structure(what, "none");
  if (message->shared) fail_unsupported(concatenate_text(what, " that is shared"));
  return message->contents;
}

Cursor ObjectHeader::type(Metadata& metadata) const {
  constexpr unsigned in_other_object = 2;
  const Message* message = find(MessageType::datatype);
  if (!message || !message->shared) return require(MessageType::datatype, "a type");
  Cursor reference = message->contents;
  const unsigned version = reference.byte(), place = reference.byte();
  if (version < 2 || version > 3 || (version == 3 && place != in_other_object))
    fail_unsupported("a type that is shared");
  const ObjectHeader named(metadata, reference.address());
  if (named.kind() != ObjectKind::named_type) fail_structure("a named type", "another object");
  return named.require(MessageType::datatype, "a type");
}

}  // namespace weft::hdf5
