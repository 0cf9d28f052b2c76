#include "train/hdf5/internal/attributes.hpp"

#include <string_view>

#include "train/hdf5/internal/dataspace.hpp"
#include "train/hdf5/internal/dense_storage.hpp"

// "The Attribute Message" and "The Attribute Info Message" in the HDF5 File Format Specification.
namespace weft::hdf5 {
namespace {

// The attribute of a message; none when it has another name.
std::optional<Attribute> read_attribute(Bytes message, const std::string& wanted,
                                        const Location& location) {
  Cursor cursor(message, location);
  const unsigned version = cursor.byte();
  if (version < 1 || version > 3) fail_with_damage(location, "an unknown attribute");
  const unsigned flags = cursor.byte();
  const std::uint64_t name_size = cursor.number(2);
  const std::uint64_t type_size = cursor.number(2);
  const std::uint64_t space_size = cursor.number(2);
  if (version == 3) cursor.skip(1);
  // Up to version 1, parts are padded to a multiple of 8 bytes.
  const auto take = [&](std::uint64_t size) {
    const Bytes part = cursor.take(version == 1 ? (size + 7) / 8 * 8 : size);
    return part.first(size);
  };
  const Bytes name_bytes = take(name_size);
  if (Cursor name(name_bytes, location); name.text() != wanted) return std::nullopt;
  if (version > 1 && flags != 0) fail_unsupported(location, "an attribute whose type is elsewhere");
  const Bytes type = take(type_size);
  const Shape shape = read_shape(take(space_size), location);
  return Attribute{
      read_element_type(type, location), shape, {cursor.rest().begin(), cursor.rest().end()}};
}

std::optional<Attribute> find_dense(Metadata& metadata, Bytes message, const std::string& name,
                                    const Location& location) {
  constexpr std::uint64_t identifier_size = 8;
  const DenseStorage dense = read_dense_storage(message, 2, location);
  if (dense.heap == undefined_address) return std::nullopt;
  const FractalHeap heap(metadata, dense.heap, location);
  std::optional<Attribute> found;
  bool any_large = false;
  visit_records(metadata, dense.names, location, [&](Bytes record) {
    Cursor cursor(record, location);
    const Bytes identifier = cursor.take(identifier_size);
    if (!heap.contains(identifier))
      any_large = true;
    else if (!found)
      found = read_attribute(heap.read(metadata, identifier), name, location);
  });
  if (!found && any_large) fail_unsupported(location, "an attribute of more than 64 KiB");
  return found;
}

}  // namespace

std::optional<Attribute> find_attribute(Metadata& metadata, const ObjectHeader& object,
                                        const std::string& name, const Location& location) {
  for (const Message& message : object.messages()) {
    std::optional<Attribute> found;
    if (message.shared) continue;
    if (message.type == MessageType::attribute)
      found = read_attribute(message.bytes, name, location);
    else if (message.type == MessageType::attribute_info)
      found = find_dense(metadata, message.bytes, name, location);
    if (found) return found;
  }
  return std::nullopt;
}

}  // namespace weft::hdf5
