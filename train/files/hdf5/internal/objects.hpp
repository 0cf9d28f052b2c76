// Objects of an HDF5 file: their headers, attributes, links and names.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "train/files/hdf5/internal/bytes.hpp"
#include "train/files/hdf5/internal/elements.hpp"

namespace weft::hdf5 {

// ObjectHeader: the messages that describe a group or a dataset.

enum class MessageType : unsigned {
  dataspace = 0x01,
  link_info = 0x02,
  datatype = 0x03,
  older_fill_value = 0x04,
  fill_value = 0x05,
  link = 0x06,
  external_files = 0x07,
  layout = 0x08,
  group_info = 0x0A,
  filters = 0x0B,
  attribute = 0x0C,
  continuation = 0x10,
  symbol_table = 0x11,
  attribute_info = 0x15,
};

struct Message {
  MessageType type;
  // Whether the contents of the message are stored elsewhere.
  bool shared;
  Cursor contents;
};

enum class ObjectKind { group, dataset, named_type, other };

class ObjectHeader {
 public:
  // Throws StructureError for a damaged header.
  ObjectHeader(Metadata& metadata, Address address);

  ObjectKind kind() const;
  const std::vector<Message>& messages() const { return messages_; }
  // Returns whether there is a message of a type.
  bool has(MessageType type) const { return find(type) != nullptr; }
  // Returns the first message of a type, or null if there is none.
  const Message* find(MessageType type) const;
  // Returns the contents of the first message of a type. Throws StructureError if there is no such
  // message, or if its contents are stored elsewhere.
  Cursor require(MessageType type, const char* what) const;
  // Returns the contents of the message that describes the type, which may be in a named type.
  Cursor type(Metadata& metadata) const;

 private:
  std::vector<Message> messages_;
};

// Dense storage: links and attributes of large groups in newer files, in a fractal heap that a
// B-tree of version 2 refers to.

class FractalHeap {
 public:
  // Reads all blocks. Throws StructureError for a damaged heap and for a heap with filters.
  FractalHeap(Metadata& metadata, Address address);

  // Returns the object with an identifier, or nothing if it is stored outside the heap, as large
  // objects are. Throws StructureError if the heap does not contain it.
  std::optional<Cursor> find(Cursor identifier) const;

 private:
  std::uint64_t row_size(unsigned row) const;
  // Adds the direct block of `size` bytes at `offset` of the heap or, when there are `rows`, all
  // blocks below an indirect one.
  void add(Metadata& metadata, Address address, std::uint64_t offset, std::uint64_t size,
           unsigned rows);
  Cursor read_direct(Metadata& metadata, Address address, std::uint64_t size) const;

  bool has_checksums_ = false;  // whether direct blocks have checksums
  unsigned width_ = 0;
  std::uint64_t start_size_ = 0;
  std::uint64_t max_direct_size_ = 0;
  std::size_t offset_bytes_ = 0;
  std::size_t length_bytes_ = 0;
  std::uint64_t head_size_ = 0;             // size of a block's head, before entries or checksum
  unsigned max_rows_ = 0;                   // number of rows whose sizes fit into 64 bits
  std::map<std::uint64_t, Cursor> blocks_;  // direct blocks, by offset
};

// Calls `visit` with each record of the tree, sorted by name, that a message "Link Info" or
// "Attribute Info" refers to. There are no records if all links or attributes are in the header.
// `index_size` is the size in bytes of the number with which such a message may start.
void visit_dense(Metadata& metadata, Cursor message, std::size_t index_size,
                 const std::function<void(Cursor record, const FractalHeap&)>& visit);

// Attributes: named values of a group or a dataset.

// An attribute. Data of variable-length strings refer to other places in the file.
struct Attribute {
  ElementType type;
  Shape shape;
  Cursor data;
};

// Returns an attribute of an object, or nothing if there is none of this name. Throws
// StructureError for a damaged attribute, and the same exceptions as read_shape.
std::optional<Attribute> find_attribute(Metadata& metadata, const ObjectHeader& object,
                                        std::string_view name);

// The links of a group: the names and addresses of its objects.

enum class LinkKind : unsigned { hard = 0, soft = 1, external = 64 };  // and others

struct Link {
  std::string name;
  LinkKind kind;
  Address target;    // target of a hard link
  std::string path;  // path of a soft link's target, relative to the root or to the group
};

// Returns all links of a group, sorted by name. Throws StructureError if there are more than
// `limit`, for invalid names (see is_name), and for repeated names.
std::vector<Link> links_of(Metadata& metadata, const ObjectHeader& group, std::size_t limit);

// The names that objects of a file may have, read or written by weft.

// Returns whether an object may have the name: printable, not "." or "..", without '/', and of 1 to
// Hdf5File::max_name_bytes bytes.
bool is_name(std::string_view name);

// Returns whether an object may have the full path: names, in at most Hdf5File::max_depth groups.
bool is_path(std::string_view full_path);

// Throws ValueError unless a new dataset may have the full path.
void check_new_dataset(const Location& location);

}  // namespace weft::hdf5
