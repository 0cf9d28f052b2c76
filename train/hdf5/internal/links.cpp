#include "train/hdf5/internal/links.hpp"

#include <algorithm>

#include "weft/train/hdf5/hdf5_file.hpp"
#include "train/hdf5/internal/dense_storage.hpp"
#include "train/hdf5/internal/object_names.hpp"
#include "train/hdf5/internal/tree.hpp"

// "Disk Format: Level 1C - Symbol Table Nodes", "Level 1D - Local Heaps", and the messages "Link",
// "Link Info" and "Symbol Table" of level 2A in the HDF5 File Format Specification.
namespace weft::hdf5 {
namespace {

class Collector {
 public:
  Collector(std::size_t limit, const Location& location) : limit_(limit), location_(location) {}

  void add(std::string_view name, LinkKind kind, Address target) {
    if (links_.size() == limit_)
      fail_at(location_, concatenate_text("at most ", Hdf5File::max_objects, " objects"), "more");
    if (name.size() > Hdf5File::max_name_bytes)
      fail_at(location_, concatenate_text("names of at most ", Hdf5File::max_name_bytes, " bytes"),
              concatenate_text("one of ", name.size()));
    if (!is_name(name))
      fail_at(location_, "printable names that are not paths", concatenate_text("'", name, "'"));
    links_.push_back({std::string(name), kind, target});
  }

  std::vector<Link> sorted() {
    std::ranges::sort(links_, {}, &Link::name);
    const auto same = std::ranges::adjacent_find(links_, {}, &Link::name);
    if (same != links_.end())
      fail_at(location_, "distinct names", concatenate_text("'", same->name, "' twice"));
    return std::move(links_);
  }

 private:
  std::vector<Link> links_;
  std::size_t limit_;
  const Location& location_;
};

// The names of a symbol table.
std::vector<std::byte> read_local_heap(Metadata& metadata, Address address,
                                       const Location& location) {
  constexpr std::uint64_t header_size = 32, max_size = 4 << 20;
  const std::vector<std::byte> bytes = metadata.read(address, header_size, location);
  Cursor header(bytes, location);
  header.expect("HEAP");
  header.skip(4);
  const std::uint64_t size = header.number(8);
  header.skip(8);
  if (size > max_size)
    fail_at(location, concatenate_text("at most ", max_size, " bytes of names in a group"), size);
  return metadata.read(header.address(), size, location);
}

std::string_view name_at(Bytes names, std::uint64_t offset, const Location& location) {
  if (offset >= names.size()) fail_with_damage(location, "a name that is not there");
  const Bytes rest = names.subspan(offset);
  const Bytes longest = rest.first(std::min(rest.size(), Hdf5File::max_name_bytes + 1));
  if (std::ranges::find(longest, std::byte{0}) == longest.end())
    fail_at(location, concatenate_text("names of at most ", Hdf5File::max_name_bytes, " bytes"),
            "a longer one");
  return Cursor(longest, location).text();
}

void add_symbols(Metadata& metadata, Address node, Bytes names, Collector& links,
                 const Location& location) {
  constexpr std::uint64_t header_size = 8, entry_size = 40;
  constexpr std::uint64_t soft_link = 2;
  const std::vector<std::byte> head = metadata.read(node, header_size, location);
  Cursor header(head, location);
  header.expect("SNOD");
  header.skip(2);
  const std::uint64_t count = header.number(2);
  const std::vector<std::byte> body =
      metadata.read(node + header_size, count * entry_size, location);
  Cursor entries(body, location);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t name = entries.number(8);
    const Address target = entries.address();
    const std::uint64_t cached = entries.number(4);
    entries.skip(20);
    links.add(name_at(names, name, location), cached == soft_link ? LinkKind::soft : LinkKind::hard,
              target);
  }
}

void add_link(Bytes message, Collector& links, const Location& location) {
  constexpr unsigned with_type = 0x08, with_creation_order = 0x04, with_character_set = 0x10;
  Cursor cursor(message, location);
  if (cursor.byte() != 1) fail_unsupported(location, "links of a later version");
  const unsigned flags = cursor.byte();
  const unsigned type = (flags & with_type) != 0 ? cursor.byte() : 0;
  if ((flags & with_creation_order) != 0) cursor.skip(8);
  if ((flags & with_character_set) != 0) cursor.skip(1);
  const Bytes name = cursor.take(cursor.number(std::size_t{1} << (flags & 3)));
  const LinkKind kind = type == 0    ? LinkKind::hard
                        : type == 1  ? LinkKind::soft
                        : type == 64 ? LinkKind::external
                                     : LinkKind::unknown;
  links.add({reinterpret_cast<const char*>(name.data()), name.size()}, kind,
            kind == LinkKind::hard ? cursor.address() : undefined_address);
}

void add_dense_links(Metadata& metadata, Bytes message, Collector& links,
                     const Location& location) {
  constexpr std::uint64_t hash_size = 4;
  const DenseStorage dense = read_dense_storage(message, 8, location);
  if (dense.heap == undefined_address) return;
  const FractalHeap heap(metadata, dense.heap, location);
  visit_records(metadata, dense.names, location, [&](Bytes record) {
    Cursor cursor(record, location);
    cursor.skip(hash_size);
    add_link(heap.read(metadata, cursor.rest()), links, location);
  });
}

}  // namespace

std::vector<Link> links_of(Metadata& metadata, const ObjectHeader& group, std::size_t limit,
                           const Location& location) {
  Collector links(limit, location);
  for (const Message& message : group.messages()) {
    if (message.shared) continue;
    if (message.type == MessageType::link) {
      add_link(message.bytes, links, location);
    } else if (message.type == MessageType::link_info) {
      add_dense_links(metadata, message.bytes, links, location);
    } else if (message.type == MessageType::symbol_table) {
      Cursor table(message.bytes, location);
      const Address tree = table.address();
      const std::vector<std::byte> names = read_local_heap(metadata, table.address(), location);
      visit_tree(metadata, tree, TreeOf::groups, 8, location,
                 [&](Bytes, Address node) { add_symbols(metadata, node, names, links, location); });
    }
  }
  return links.sorted();
}

}  // namespace weft::hdf5
