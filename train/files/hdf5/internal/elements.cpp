#include "train/files/hdf5/internal/elements.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include "weft/train/files/hdf5/hdf5_file.hpp"
#include "train/files/internal/half_precision.hpp"

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

// The properties of a floating-point type in a message: first bit and number of bits of the whole
// number, of the exponent and of the mantissa, and the bias.
using FloatProperties = std::array<std::uint64_t, 7>;
constexpr FloatProperties property_sizes{2, 2, 1, 1, 1, 1, 4};  // size of each in bytes

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
              str_cat(big_endian ? "big-endian " : "", format.name)};
  return {Kind::other, head.bytes, false, str_cat("unusual float of ", head.bytes, " bytes")};
}

ElementType integer(const Head& head, Cursor& cursor) {
  const auto offset = cursor.number(2);
  const auto precision = cursor.number(2);
  const std::size_t bits = 8 * head.bytes;
  const bool known = head.bytes == 1 || head.bytes == 2 || head.bytes == 4 || head.bytes == 8;
  if (!known || offset != 0 || precision != bits)
    return {Kind::other, head.bytes, false, str_cat("unusual integer of ", bits, " bits")};
  const bool big_endian = (head.flags & 1) != 0 && bits > 8;
  const bool is_signed = (head.flags & 8) != 0;
  return {is_signed ? Kind::signed_integer : Kind::unsigned_integer, head.bytes, big_endian,
          str_cat(big_endian ? "big-endian " : "", is_signed ? "int" : "uint", bits)};
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
  if (head.version < 1 || head.version > 5 || head.bytes == 0) fail_with_damage("an unknown type");
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
      "integer", "float",         "unknown",   "string",      "bit field",
      "opaque",  "compound",      "reference", "enumeration", "variable-length array",
      "array",   "complex number"};
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
  if (rank > Shape::max_rank) fail_structure(str_cat("at most ", Shape::max_rank, " axes"), rank);
  std::array<Index, Shape::max_rank> sizes{};
  Extent extent{};
  for (unsigned axis = 0; axis < rank; ++axis) {
    const std::uint64_t size = extent.limits[axis] = message.number(8);
    if (size > static_cast<std::uint64_t>(std::numeric_limits<Index>::max()))
      throw StructureError(str_cat("shape: expected sizes below 2^63, got ", size));
    sizes[axis] = static_cast<Index>(size);
  }
  for (unsigned axis = 0; axis < rank && (flags & with_limits) != 0; ++axis) {
    const std::uint64_t size = std::exchange(extent.limits[axis], message.number(8));
    if (extent.limits[axis] < size) fail_with_damage("a shape larger than its maximum");
  }
  try {
    extent.shape = Shape(std::span<const Index>(sizes.data(), rank));
    return extent;
  } catch (const ShapeError& error) {
    throw StructureError(error.what());
  }
}

namespace {

using Kind = ElementType::Kind;

static_assert(std::endian::native == std::endian::little);

// Stored 16-bit numbers. Numbers of 32 and 64 bits are stored as float and double.
struct Float16 {
  std::uint16_t bits;
};
struct BFloat16 {
  std::uint16_t bits;
};

float widened(Float16 x) { return float_of_float16(x.bits); }
float widened(BFloat16 x) { return float_of_bfloat16(x.bits); }
template <class T>
T widened(T x) {
  return x;
}

// Rounds to single precision such that rounding the result once more, to 16 bits, gives the same
// number as rounding once: if the value is not exact, the last bit of the result is 1.
float to_odd(float value) { return value; }
float to_odd(double value) {
  const auto rounded = static_cast<float>(value);
  const auto bits = std::bit_cast<std::uint32_t>(rounded);
  if (static_cast<double>(rounded) == value || !std::isfinite(rounded) || (bits & 1) != 0)
    return rounded;
  return std::bit_cast<float>(std::abs(static_cast<double>(rounded)) < std::abs(value) ? bits + 1
                                                                                       : bits - 1);
}

template <class Stored, class T>
Stored narrowed(T x) {
  if constexpr (std::is_same_v<Stored, Float16>)
    return {float16_of(to_odd(x))};
  else if constexpr (std::is_same_v<Stored, BFloat16>)
    return {bfloat16_of(to_odd(x))};
  else
    return static_cast<Stored>(x);
}

// Calls `use` with a number of the stored type, which must be convertible to T.
template <class T, class Use>
void with_stored(const ElementType& type, const Use& use) {
  if constexpr (std::is_floating_point_v<T>) {
    switch (type.kind) {
      case Kind::float16:
        return use(Float16{});
      case Kind::bfloat16:
        return use(BFloat16{});
      case Kind::float32:
        return use(float{});
      default:
        return use(double{});
    }
  } else if constexpr (std::is_same_v<T, bool>) {
    use(std::uint8_t{});
  } else {
    const auto use_integer = [&]<class Signed>(Signed number) {
      if (type.kind == Kind::signed_integer)
        use(number);
      else
        use(std::make_unsigned_t<Signed>{});
    };
    switch (type.bytes) {
      case 1:
        return use_integer(std::int8_t{});
      case 2:
        return use_integer(std::int16_t{});
      case 4:
        return use_integer(std::int32_t{});
      default:
        return use_integer(std::int64_t{});
    }
  }
}

constexpr std::uint8_t swapped(std::uint8_t bits) { return bits; }
constexpr std::uint16_t swapped(std::uint16_t bits) { return __builtin_bswap16(bits); }
constexpr std::uint32_t swapped(std::uint32_t bits) { return __builtin_bswap32(bits); }
constexpr std::uint64_t swapped(std::uint64_t bits) { return __builtin_bswap64(bits); }

template <class Stored>
using BitsOf =
    std::tuple_element_t<std::bit_width(sizeof(Stored)) - 1,
                         std::tuple<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>>;

// Calls `use(i, number)` for each element.
template <class Stored, bool big_endian, class Use>
void for_each(Bytes elements, const Use& use) {
  for (std::size_t i = 0; i < elements.size() / sizeof(Stored); ++i) {
    BitsOf<Stored> bits;
    std::memcpy(&bits, elements.data() + i * sizeof bits, sizeof bits);
    use(i, std::bit_cast<Stored>(big_endian ? swapped(bits) : bits));
  }
}

void check_text_size(std::uint64_t bytes) {
  if (bytes > Hdf5File::max_text_bytes)
    fail_structure(str_cat("a string of at most ", Hdf5File::max_text_bytes, " bytes"),
                   str_cat(bytes, " bytes"));
}

// Returns the text up to the first NUL.
std::string text_of(Bytes bytes) {
  const auto* text = reinterpret_cast<const char*>(bytes.data());
  return std::string(text, ::strnlen(text, bytes.size()));
}

// Reads a string from a global heap ("Disk Format: Level 1E" in the HDF5 File Format
// Specification).
std::string read_variable_text(Metadata& metadata, Cursor reference) {
  constexpr std::uint64_t header_size = 16;
  const std::uint64_t length = reference.number(4);
  Address at = reference.address();
  const std::uint64_t wanted = reference.number(4);
  if (length == 0) return "";
  check_text_size(length);
  Cursor header = metadata.read(at, header_size, "GCOL");
  header.skip(4);
  const std::uint64_t collection = header.number(8);
  const Address end = collection > metadata.file().bytes_from(at) ? at : at + collection;
  for (at += header_size; at < end && end - at > header_size;) {
    Cursor object = metadata.read(at, header_size);
    const std::uint64_t index = object.number(2);
    object.skip(6);
    const std::uint64_t size = object.number(8);
    at += header_size;
    if (index == 0 || size > end - at) break;
    if (index == wanted) {
      if (size != length) fail_with_damage("a string of the wrong length");
      return text_of(metadata.read(at, length).rest());
    }
    at += (size + 7) / 8 * 8;
  }
  fail_with_damage("a missing string");
}

// Calls `sink` with the elements converted to Stored. Messages call this type `name`.
template <class Stored, class T>
void store_as(const Tensor<T>& tensor, const char* name, const Location& location,
              const std::function<void(Bytes)>& sink) {
  std::array<Stored, 4096> block;
  const std::span<const T> values = tensor.values();
  for (std::size_t begin = 0; begin < values.size(); begin += block.size()) {
    const std::size_t count = std::min(block.size(), values.size() - begin);
    for (std::size_t i = 0; i < count; ++i) {
      const T value = values[begin + i];
      block[i] = narrowed<Stored>(value);
      if (std::isfinite(value) && !std::isfinite(widened(block[i])))
        fail<ValueError>(
            location.text(), str_cat("numbers in the range of ", name),
            str_cat(value, " at ", tensor.shape().position(static_cast<Index>(begin + i))));
    }
    sink(std::as_bytes(std::span(block).first(count)));
  }
}

}  // namespace

template <class T>
void check_convertible(const ElementType& type) {
  if constexpr (std::is_floating_point_v<T>) {
    if (!type.is_float()) fail_structure("floating-point numbers of 16, 32 or 64 bits", type.name);
  } else if constexpr (std::is_same_v<T, bool>) {
    if (type.kind != Kind::boolean) fail_structure("bool, as written by h5py", type.name);
  } else if (!type.is_integer()) {
    fail_structure("integers", type.name);
  }
}

template <class T>
void convert_elements(const ElementType& type, Bytes elements, T* out, const Shape& shape,
                      Index first) {
  check_convertible<T>(type);
  with_stored<T>(type, [&]<class Stored>(Stored) {
    if constexpr (std::is_same_v<Stored, T>)
      if (!type.big_endian)
        return static_cast<void>(std::memcpy(out, elements.data(), elements.size()));
    const auto convert = [&](std::size_t i, Stored stored) {
      const auto number = widened(stored);
      if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
        if (!std::in_range<T>(number))
          fail_structure(sizeof(T) == 8 ? std::string("integers below 2^63")
                                        : str_cat("integers of ", 8 * sizeof(T), " bits"),
                         str_cat(+number, " at ", shape.position(first + static_cast<Index>(i))));
      out[i] = static_cast<T>(number);
    };
    if (type.big_endian)
      for_each<Stored, true>(elements, convert);
    else
      for_each<Stored, false>(elements, convert);
  });
}

template <class T>
T convert_value(Metadata& metadata, const ElementType& type, const Shape& shape, Bytes element) {
  if (shape.elements() != 1) fail_structure("one value", str_cat("shape ", shape));
  if (element.size() < type.bytes) fail_with_damage("a value that is too short");
  element = element.first(type.bytes);
  if constexpr (std::is_same_v<T, std::string>) {
    if (type.kind == Kind::variable_text) return read_variable_text(metadata, Cursor(element));
    if (type.kind != Kind::text) fail_structure("a string", type.name);
    check_text_size(element.size());
    return text_of(element);
  } else {
    T value{};
    convert_elements(type, element, &value, shape, 0);
    return value;
  }
}

template <class T>
void store_elements(const Tensor<T>& tensor, StorageType type, const Location& location,
                    const std::function<void(Bytes)>& sink) {
  if constexpr (std::is_floating_point_v<T>) {
    if (type == StorageType::float16) return store_as<Float16>(tensor, "float16", location, sink);
    if (type == StorageType::bfloat16)
      return store_as<BFloat16>(tensor, "bfloat16", location, sink);
    if (type == StorageType::float32 && !std::is_same_v<T, float>)
      return store_as<float>(tensor, "float32", location, sink);
    if (type == StorageType::float64 && !std::is_same_v<T, double>)
      return store_as<double>(tensor, "float64", location, sink);
  }
  sink(std::as_bytes(tensor.values()));
}

#define WEFT_INSTANTIATE(T)                               \
  template void check_convertible<T>(const ElementType&); \
  template void convert_elements(const ElementType&, Bytes, T*, const Shape&, Index);
WEFT_INSTANTIATE(float)
WEFT_INSTANTIATE(double)
WEFT_INSTANTIATE(std::int32_t)
WEFT_INSTANTIATE(bool)
#undef WEFT_INSTANTIATE
template double convert_value(Metadata&, const ElementType&, const Shape&, Bytes);
template std::int64_t convert_value(Metadata&, const ElementType&, const Shape&, Bytes);
template std::string convert_value(Metadata&, const ElementType&, const Shape&, Bytes);
template void store_elements(const Tensor<float>&, StorageType, const Location&,
                             const std::function<void(Bytes)>&);
template void store_elements(const Tensor<double>&, StorageType, const Location&,
                             const std::function<void(Bytes)>&);
template void store_elements(const Tensor<std::int32_t>&, StorageType, const Location&,
                             const std::function<void(Bytes)>&);

}  // namespace weft::hdf5
