#include "train/files/hdf5/internal/links.hpp"

#include <algorithm>

#include "weft/train/files/hdf5/hdf5_file.hpp"
#include "train/files/hdf5/internal/dense_storage.hpp"
#include "train/files/hdf5/internal/object_names.hpp"
#include "train/files/hdf5/internal/trees.hpp"

// "Disk Format: Level 1C - Symbol Table Nodes", "Level 1D - Local Heaps", and the messages "Link",
// "Link Info" and "Symbol Table" of level 2A in the HDF5 File Format Specification.
namespace weft::hdf5 {
namespace {

[[noreturn]] void fail_with_long_name(const std::string& got) {
  fail_structure(concatenate_text("names of at most ", Hdf5File::max_name_bytes, " bytes"), got);
}

class Collector {
 public:
  Collector(Metadata& metadata, std::size_t limit) : metadata_(metadata), limit_(limit) {}

  void add_message(Cursor message) {
    constexpr unsigned with_type = 0x08, with_creation_order = 0x04, with_character_set = 0x10;
    if (message.byte() != 1) fail_unsupported("links of a later version");
    const unsigned flags = message.byte();
    const auto kind = static_cast<LinkKind>((flags & with_type) != 0 ? message.byte() : 0);
    if ((flags & with_creation_order) != 0) message.skip(8);
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

  // The links of a group in the oldest format, with their names in a local heap.
  void add_symbol_table(Cursor message) {
    constexpr std::uint64_t header_size = 32, max_size = 4 << 20;
    const Address tree = message.address();
    Cursor header = metadata_.read(message.address(), header_size, "HEAP");
    header.skip(4);
    const std::uint64_t size = header.number(8);
    header.skip(8);
    if (size > max_size)
      fail_structure(concatenate_text("at most ", max_size, " bytes of names in a group"), size);
    const Cursor names = metadata_.read(header.address(), size);
    visit_tree(metadata_, tree, TreeOf::groups, 8,
               [&](const Cursor&, Address node) { add_symbols(node, names); });
  }

  std::vector<Link> sorted() {
    std::ranges::sort(links_, {}, &Link::name);
    const auto same = std::ranges::adjacent_find(links_, {}, &Link::name);
    if (same != links_.end())
      fail_structure("distinct names", concatenate_text("'", same->name, "' twice"));
    return std::move(links_);
  }

 private:
  void add(Link link) {
    if (links_.size() == limit_)
      fail_structure(concatenate_text("at most ", Hdf5File::max_objects, " objects"), "more");
    if (const std::size_t size = std::max(link.name.size(), link.path.size());
        size > Hdf5File::max_name_bytes)
      fail_with_long_name(concatenate_text("one of ", size));
    if (!is_name(link.name))
      fail_structure("printable names that are not paths", concatenate_text("'", link.name, "'"));
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
    if (offset >= names.rest().size()) fail_with_damage("a name that is not there");
    names.skip(offset);
    names = names.part(std::min(names.rest().size(), Hdf5File::max_name_bytes + 1));
    if (std::ranges::find(names.rest(), std::byte{0}) == names.rest().end())
      fail_with_long_name("a longer one");
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

}  // namespace weft::hdf5
