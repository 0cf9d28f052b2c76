// ObjectHeader: the messages that describe a group or a dataset.
#pragma once

#include <vector>

#include "train/files/hdf5/internal/metadata.hpp"

namespace weft::hdf5 {

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
  // Whether its contents are elsewhere.
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
  // The first message of a type; null when there is none.
  const Message* find(MessageType type) const;
  // Its contents. Throws StructureError when there is none, or it is
  // elsewhere.
  Cursor require(MessageType type, const char* what) const;
  // The contents of the message that describes the type, which a named type may have.
  Cursor type(Metadata& metadata) const;

 private:
  std::vector<Message> messages_;
};

}  // namespace weft::hdf5
