#include "train/files/hdf5/internal/element_type.hpp"

#include <algorithm>
#include <array>
#include <limits>

// "The Datatype Message" and "The Dataspace Message" in the HDF5 File Format Specification.
namespace weft::hdf5 {
namespace {

using Kind = ElementType::Kind;

struct Head {
  unsigned version;
  unsigned type_class;
  unsigned flags;
  std::size_t bytes;
};

Head read_head(Cursor& cursor) {
  const unsigned first = cursor.byte();
  const auto flags = static_cast<unsigned>(cursor.number(3));
  return {first >> 4, first & 0x0F, flags, cursor.number(4)};
}

// The properties of a floating-point type as the message has them: the first bit and the number of
// bits of the number, its exponent and its mantissa, and the bias.
using FloatProperties = std::array<std::uint64_t, 7>;
constexpr FloatProperties property_sizes{2, 2, 1, 1, 1, 1, 4};  // in bytes

struct FloatFormat {
  Kind kind;
  const char* name;
  FloatProperties properties;
};

constexpr std::array<FloatFormat, 4> float_formats{{
    {Kind::float16, "float16", {0, 16, 10, 5, 0, 10, 15}},
    {Kind::bfloat16, "bfloat16", {0, 16, 7, 8, 0, 7, 127}},
    {Kind::float32, "float32", {0, 32, 23, 8, 0, 23, 127}},
    {Kind::float64, "float64", {0, 64, 52, 11, 0, 52, 1023}},
}};

ElementType floating_point(const Head& head, Cursor& cursor) {
  constexpr unsigned order = 0x41, implied_one = 2;
  FloatProperties properties;
  std::ranges::transform(property_sizes, properties.begin(),
                         [&](std::size_t size) { return cursor.number(size); });
  const std::size_t bits = 8 * head.bytes;
  const bool sign_is_last = (head.flags >> 8 & 0xFF) == bits - 1;
  const bool big_endian = (head.flags & order) == 1;
  for (const FloatFormat& format : float_formats)
    if (properties == format.properties && bits == format.properties[1] && sign_is_last &&
        (head.flags & order) <= 1 && (head.flags >> 4 & 3) == implied_one)
      return {format.kind, head.bytes, big_endian,
              concatenate_text(big_endian ? "big-endian " : "", format.name)};
  return {Kind::other, head.bytes, false,
          concatenate_text("unusual float of ", head.bytes, " bytes")};
}

ElementType integer(const Head& head, Cursor& cursor) {
  const auto offset = cursor.number(2);
  const auto precision = cursor.number(2);
  const std::size_t bits = 8 * head.bytes;
  const bool known = head.bytes == 1 || head.bytes == 2 || head.bytes == 4 || head.bytes == 8;
  if (!known || offset != 0 || precision != bits)
    return {Kind::other, head.bytes, false, concatenate_text("unusual integer of ", bits, " bits")};
  const bool big_endian = (head.flags & 1) != 0 && bits > 8;
  const bool is_signed = (head.flags & 8) != 0;
  return {is_signed ? Kind::signed_integer : Kind::unsigned_integer, head.bytes, big_endian,
          concatenate_text(big_endian ? "big-endian " : "", is_signed ? "int" : "uint", bits)};
}

// h5py writes bool as an enumeration of FALSE and TRUE, stored in one byte.
ElementType enumeration(const Head& head, Cursor& cursor) {
  const ElementType other{Kind::other, head.bytes, false, "enumeration"};
  constexpr std::size_t properties_of_integer = 4;
  if ((head.flags & 0xFFFF) != 2 || head.bytes != 1) return other;
  const Head base = read_head(cursor);
  if (base.type_class != 0 || base.bytes != 1) return other;
  cursor.skip(properties_of_integer);
  for (const std::string_view expected : {"FALSE", "TRUE"}) {
    const std::string_view name = cursor.text();
    if (name != expected) return other;
    // Up to version 2, names are padded to a multiple of 8 bytes.
    if (head.version < 3) cursor.skip((8 - (name.size() + 1) % 8) % 8);
  }
  if (cursor.byte() != 0 || cursor.byte() != 1) return other;
  return {Kind::boolean, 1, false, "bool"};
}

}  // namespace

ElementType read_element_type(Cursor message) {
  const Head head = read_head(message);
  if (head.version < 1 || head.version > 4 || head.bytes == 0) fail_with_damage("an unknown type");
  switch (head.type_class) {
    case 0:
      return integer(head, message);
    case 1:
      return floating_point(head, message);
    case 3:
      return {Kind::text, head.bytes, false, "string"};
    case 8:
      return enumeration(head, message);
    case 9:
      if ((head.flags & 0x0F) == 1) return {Kind::variable_text, head.bytes, false, "string"};
      break;
  }
  constexpr std::array others{
      "integer", "float",    "unknown",   "string",      "bit field",
      "opaque",  "compound", "reference", "enumeration", "variable-length array",
      "array"};
  return {Kind::other, head.bytes, false,
          head.type_class < others.size() ? others[head.type_class] : "unknown"};
}

Extent read_extent(Cursor message) {
  constexpr unsigned null_dataspace = 2, with_limits = 1;
  const unsigned version = message.byte();
  if (version != 1 && version != 2) fail_with_damage("an unknown dataspace");
  const unsigned rank = message.byte(), flags = message.byte();
  if (version == 1)
    message.skip(5);
  else if (message.byte() == null_dataspace)
    fail_structure("elements", "a null dataspace");
  if (rank > Shape::max_rank)
    fail_structure(concatenate_text("at most ", Shape::max_rank, " axes"), rank);
  std::array<Index, Shape::max_rank> sizes{};
  Extent extent{};
  for (unsigned axis = 0; axis < rank; ++axis) {
    const std::uint64_t size = extent.limits[axis] = message.number(8);
    if (size > static_cast<std::uint64_t>(std::numeric_limits<Index>::max()))
      throw StructureError(concatenate_text("shape: expected sizes below 2^63, got ", size));
    sizes[axis] = static_cast<Index>(size);
  }
  for (unsigned axis = 0; axis < rank && (flags & with_limits) != 0; ++axis) {
    const std::uint64_t size = std::exchange(extent.limits[axis], message.number(8));
    if (extent.limits[axis] < size) fail_with_damage("a shape beyond its limits");
  }
  try {
    extent.shape = Shape(std::span<const Index>(sizes.data(), rank));
    return extent;
  } catch (const ShapeError& error) {
    throw StructureError(error.what());
  }
}

}  // namespace weft::hdf5
