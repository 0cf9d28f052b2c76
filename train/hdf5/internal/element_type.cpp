#include "train/hdf5/internal/element_type.hpp"

#include <array>

// "The Datatype Message" in the HDF5 File Format Specification.
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

// Where the parts of a floating-point number are, in bits.
struct FloatFormat {
  Kind kind;
  const char* name;
  std::size_t bytes;
  unsigned exponent_at, exponent_size, mantissa_size, bias;
};

constexpr std::array<FloatFormat, 4> float_formats{{
    {Kind::float16, "float16", 2, 10, 5, 10, 15},
    {Kind::bfloat16, "bfloat16", 2, 7, 8, 7, 127},
    {Kind::float32, "float32", 4, 23, 8, 23, 127},
    {Kind::float64, "float64", 8, 52, 11, 52, 1023},
}};

ElementType floating_point(const Head& head, Cursor& cursor) {
  constexpr unsigned order = 0x41, implied_one = 2;
  const auto offset = cursor.number(2);
  const auto precision = cursor.number(2);
  const unsigned exponent_at = cursor.byte(), exponent_size = cursor.byte();
  const unsigned mantissa_at = cursor.byte(), mantissa_size = cursor.byte();
  const auto bias = cursor.number(4);
  const unsigned sign_at = head.flags >> 8 & 0xFF;
  const bool big_endian = (head.flags & order) == 1;
  for (const FloatFormat& format : float_formats)
    if (head.bytes == format.bytes && (head.flags & order) <= 1 && offset == 0 &&
        precision == 8 * format.bytes && (head.flags >> 4 & 3) == implied_one &&
        sign_at == 8 * format.bytes - 1 && exponent_at == format.exponent_at &&
        exponent_size == format.exponent_size && mantissa_at == 0 &&
        mantissa_size == format.mantissa_size && bias == format.bias)
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

ElementType read_element_type(Bytes message, const Location& location) {
  Cursor cursor(message, location);
  const Head head = read_head(cursor);
  if (head.version < 1 || head.version > 4 || head.bytes == 0)
    fail_with_damage(location, "an unknown type");
  const auto other = [&](const char* name) {
    return ElementType{Kind::other, head.bytes, false, name};
  };
  switch (head.type_class) {
    case 0:
      return integer(head, cursor);
    case 1:
      return floating_point(head, cursor);
    case 3:
      return {Kind::text, head.bytes, false, "string"};
    case 4:
      return other("bit field");
    case 5:
      return other("opaque");
    case 6:
      return other("compound");
    case 7:
      return other("reference");
    case 8:
      return enumeration(head, cursor);
    case 9:
      if ((head.flags & 0x0F) == 1) return {Kind::variable_text, head.bytes, false, "string"};
      return other("variable-length array");
    case 10:
      return other("array");
    default:
      return other("unknown");
  }
}

}  // namespace weft::hdf5
