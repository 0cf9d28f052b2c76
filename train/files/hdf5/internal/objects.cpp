#include "train/files/hdf5/internal/objects.hpp"

#include <algorithm>
#include <bit>
#include <optional>

#include "weft/train/files/hdf5/hdf5_file.hpp"
#include "train/files/hdf5/internal/bytes.hpp"
#include "train/files/hdf5/internal/chunk_index.hpp"

// "Disk Format: Level 2A - Data Object Headers" in the HDF5 File Format Specification.

// "Disk Format: Level 1G - Fractal Heap" in the HDF5 File Format Specification.

// "The Attribute Message" and "The Attribute Info Message" in the HDF5 File Format Specification.

// "Disk Format: Level 1C - Symbol Table Nodes", "Level 1D - Local Heaps", and the messages "Link",
// "Link Info" and "Symbol Table" of level 2A in the HDF5 File Format Specification.

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
  // Remaining bytes that are too few for a message's header are a gap.
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
  if (message->shared) fail_unsupported(str_cat(what, " that is shared"));
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
  if (named.kind() != ObjectKind::named_type)
    fail_structure("a named type", "a different kind of object");
  return named.require(MessageType::datatype, "a type");
}

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
  // With filters, the header is longer.
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
    fail_with_damage("a heap of inconsistent sizes");
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
  // A row consists of `width_` blocks of the same size. The rows of a child add up to its size.
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
  // The checksum is computed with zeros in its own place.
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

namespace {

// Parses the message of an attribute. Returns nothing if its name is not `wanted`.
std::optional<Attribute> read_attribute(Cursor message, std::string_view wanted) {
  const unsigned version = message.byte();
  if (version < 1 || version > 3) fail_with_damage("an unknown attribute");
  const unsigned flags = message.byte();
  const unsigned name_size = message.short_number();
  const unsigned type_size = message.short_number();
  const unsigned space_size = message.short_number();
  if (version == 3) message.skip(1);
  // Up to version 1, parts are padded to a multiple of 8 bytes.
  const auto part = [&](unsigned size) {
    return message.part(version == 1 ? (size + 7) / 8 * 8 : size).part(size);
  };
  if (part(name_size).text() != wanted) return std::nullopt;
  if (version > 1 && flags != 0) fail_unsupported("an attribute with a shared type");
  const Cursor type = part(type_size);
  const Shape shape = read_shape(part(space_size));
  return Attribute{read_element_type(type), shape, message};
}

std::optional<Attribute> find_dense(Metadata& metadata, const Cursor& message,
                                    std::string_view name) {
  constexpr std::uint64_t identifier_size = 8;
  std::optional<Attribute> found;
  bool any_large = false;
  visit_dense(metadata, message, 2, [&](Cursor record, const FractalHeap& heap) {
    const std::optional<Cursor> attribute = heap.find(record.part(identifier_size));
    if (!attribute)
      any_large = true;
    else if (!found)
      found = read_attribute(*attribute, name);
  });
  if (!found && any_large) fail_unsupported("an attribute of more than 64 KiB");
  return found;
}

}  // namespace

std::optional<Attribute> find_attribute(Metadata& metadata, const ObjectHeader& object,
                                        std::string_view name) {
  for (const auto& [type, shared, contents] : object.messages()) {
    std::optional<Attribute> found;
    if (shared) continue;
    if (type == MessageType::attribute)
      found = read_attribute(contents, name);
    else if (type == MessageType::attribute_info)
      found = find_dense(metadata, contents, name);
    if (found) return found;
  }
  return std::nullopt;
}

namespace {

[[noreturn]] void fail_with_long_name(const std::string& got) {
  fail_structure(str_cat("names of at most ", Hdf5File::max_name_bytes, " bytes"), got);
}

class Collector {
 public:
  Collector(Metadata& metadata, std::size_t limit) : metadata_(metadata), limit_(limit) {}

  void add_message(Cursor message) {
    constexpr unsigned with_type = 0x08, with_order = 0x04, with_character_set = 0x10;
    if (message.byte() != 1) fail_unsupported("links of a later version");
    const unsigned flags = message.byte();
    const auto kind = static_cast<LinkKind>((flags & with_type) != 0 ? message.byte() : 0);
    if ((flags & with_order) != 0) message.skip(8);
    if ((flags & with_character_set) != 0) message.skip(1);
    const std::string_view name = message.text(message.number(std::size_t{1} << (flags & 3)));
    add({std::string(name), kind, kind == LinkKind::hard ? message.address() : undefined_address,
         kind == LinkKind::soft ? std::string(message.text(message.number(2))) : ""});
  }

  void add_dense(const Cursor& message) {
    constexpr std::uint64_t hash_size = 4;
    visit_dense(metadata_, message, 8, [&](Cursor record, const FractalHeap& heap) {
      record.skip(hash_size);
      const std::optional<Cursor> link = heap.find(record);
      if (!link) fail_unsupported("an object of unusual size");
      add_message(*link);
    });
  }

  // Adds the links of a group in the oldest format, whose names are in a local heap.
  void add_symbol_table(Cursor message) {
    constexpr std::uint64_t header_size = 32, max_size = 4 << 20;
    const Address tree = message.address();
    Cursor header = metadata_.read(message.address(), header_size, "HEAP");
    header.skip(4);
    const std::uint64_t size = header.number(8);
    header.skip(8);
    if (size > max_size)
      fail_structure(str_cat("at most ", max_size, " bytes of names in a group"), size);
    const Cursor names = metadata_.read(header.address(), size);
    visit_tree(metadata_, tree, TreeOf::groups, 8,
               [&](const Cursor&, Address node) { add_symbols(node, names); });
  }

  std::vector<Link> sorted() {
    std::ranges::sort(links_, {}, &Link::name);
    const auto same = std::ranges::adjacent_find(links_, {}, &Link::name);
    if (same != links_.end()) fail_structure("distinct names", str_cat("'", same->name, "' twice"));
    return std::move(links_);
  }

 private:
  void add(Link link) {
    if (links_.size() == limit_)
      fail_structure(str_cat("at most ", Hdf5File::max_objects, " objects"), "more");
    if (const std::size_t size = std::max(link.name.size(), link.path.size());
        size > Hdf5File::max_name_bytes)
      fail_with_long_name(str_cat(size, " bytes"));
    if (!is_name(link.name))
      fail_structure("printable names that are not paths", str_cat("'", link.name, "'"));
    links_.push_back(std::move(link));
  }

  void add_symbols(Address node, const Cursor& names) {
    constexpr std::uint64_t header_size = 8, entry_size = 40;
    constexpr std::uint64_t soft_link = 2;
    Cursor header = metadata_.read(node, header_size, "SNOD");
    header.skip(2);
    const std::uint64_t count = header.number(2);
    Cursor entries = metadata_.read(node + header_size, count * entry_size);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t name_offset = entries.number(8);
      const Address target = entries.address();
      const std::uint64_t cached = entries.number(4);
      entries.skip(4);
      const std::uint64_t path_offset = entries.number(4);
      entries.skip(12);
      if (cached == soft_link)
        add({text_at(names, name_offset), LinkKind::soft, target, text_at(names, path_offset)});
      else
        add({text_at(names, name_offset), LinkKind::hard, target, ""});
    }
  }

  static std::string text_at(Cursor names, std::uint64_t offset) {
    if (offset >= names.rest().size()) fail_with_damage("a missing name");
    names.skip(offset);
    names = names.part(std::min(names.rest().size(), Hdf5File::max_name_bytes + 1));
    if (std::ranges::find(names.rest(), std::byte{0}) == names.rest().end())
      fail_with_long_name("a longer name");
    return std::string(names.text());
  }

  Metadata& metadata_;
  std::size_t limit_;
  std::vector<Link> links_;
};

}  // namespace

std::vector<Link> links_of(Metadata& metadata, const ObjectHeader& group, std::size_t limit) {
  Collector links(metadata, limit);
  for (const auto& [type, shared, contents] : group.messages()) {
    if (shared) continue;
    if (type == MessageType::link)
      links.add_message(contents);
    else if (type == MessageType::link_info)
      links.add_dense(contents);
    else if (type == MessageType::symbol_table)
      links.add_symbol_table(contents);
  }
  return links.sorted();
}

namespace {

// Returns the number of groups on a full path.
std::size_t depth_of(std::string_view full_path) {
  return static_cast<std::size_t>(std::ranges::count(full_path, '/')) - 1;
}

// Returns the first name in a full path that an object must not have, if any.
std::optional<std::string_view> invalid_name(std::string_view full_path) {
  for (std::string_view rest = full_path; !rest.empty();) {
    const std::size_t end = std::min(rest.find('/', 1), rest.size());
    if (const std::string_view name = rest.substr(1, end - 1); !is_name(name)) return name;
    rest.remove_prefix(end);
  }
  return std::nullopt;
}

}  // namespace

bool is_name(std::string_view name) {
  const auto invalid = [](char c) {
    return c == '/' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  };
  return !name.empty() && name.size() <= Hdf5File::max_name_bytes && name != "." && name != ".." &&
         std::ranges::none_of(name, invalid);
}

bool is_path(std::string_view full_path) {
  return full_path == "/" ||
         (depth_of(full_path) <= Hdf5File::max_depth && !invalid_name(full_path));
}

void check_new_dataset(const Location& location) {
  const std::string_view path = location.object;
  if (path == "/") fail<ValueError>(location.text(), "the path of a dataset", "the root");
  if (depth_of(path) > Hdf5File::max_depth)
    fail<ValueError>(location.text(), str_cat("a path of at most ", Hdf5File::max_depth, " groups"),
                     depth_of(path));
  if (const std::optional<std::string_view> name = invalid_name(path))
    fail<ValueError>(location.text(),
                     str_cat("names in the path that are printable, not '.' or '..', and of 1 to ",
                             Hdf5File::max_name_bytes, " bytes"),
                     str_cat('\'', Location::shortened(*name), '\''));
}

}  // namespace weft::hdf5
