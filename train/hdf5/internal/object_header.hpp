// ObjectHeader: the messages that describe a group or a dataset.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "train/hdf5/internal/metadata.hpp"

namespace weft::hdf5 {

enum class MessageType : unsigned {
  dataspace = 0x01,
  link_info = 0x02,
  datatype = 0x03,
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
  Bytes bytes;
};

enum class ObjectKind { group, dataset, other };

class ObjectHeader {
 public:
  // Throws FileError for a damaged header.
  ObjectHeader(Metadata& metadata, Address address, const Location& location);
  ObjectHeader(ObjectHeader&&) noexcept = default;
  ObjectHeader& operator=(ObjectHeader&&) noexcept = default;

  ObjectKind kind() const;
  const std::vector<Message>& messages() const { return messages_; }
  // The first message of a type; null when there is none.
  const Message* find(MessageType type) const;
  // The contents of the message of a type. Throws FileError when there is none, or it is elsewhere.
  Bytes require(MessageType type, const char* what, const Location& location) const;

 private:
  struct Block {
    Address address;
    std::uint64_t size;
    std::uint64_t head;  // the bytes before the messages
  };
  // Reads the blocks and those that they continue in.
  void read_blocks(Metadata& metadata, std::vector<Block> blocks, unsigned version, unsigned flags,
                   const Location& location);

  std::vector<std::vector<std::byte>> blocks_;
  std::vector<Message> messages_;  // refer to blocks_
};

}  // namespace weft::hdf5
