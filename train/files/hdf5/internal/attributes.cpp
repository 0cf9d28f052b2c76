#include "train/files/hdf5/internal/attributes.hpp"

#include "train/files/hdf5/internal/dense_storage.hpp"

// "The Attribute Message" and "The Attribute Info Message" in the HDF5 File Format Specification.
namespace weft::hdf5 {
namespace {

// The attribute of a message; none when it has another name.
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
  if (version > 1 && flags != 0) fail_unsupported("an attribute whose type is elsewhere");
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

}  // namespace weft::hdf5
