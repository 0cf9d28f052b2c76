#include "train/hdf5/internal/elements.hpp"

#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "weft/train/hdf5/hdf5_file.hpp"
#include "train/files/half_precision.hpp"

namespace weft::hdf5 {
namespace {

using Kind = ElementType::Kind;

static_assert(std::endian::native == std::endian::little);

constexpr std::uint8_t swapped(std::uint8_t value) { return value; }
constexpr std::uint16_t swapped(std::uint16_t value) { return __builtin_bswap16(value); }
constexpr std::uint32_t swapped(std::uint32_t value) { return __builtin_bswap32(value); }
constexpr std::uint64_t swapped(std::uint64_t value) { return __builtin_bswap64(value); }

// Calls `use(i, bits)` with the bits of every element in native byte order.
template <class Bits, class Use>
void for_each(const ElementType& type, Bytes elements, const Use& use) {
  for (std::size_t i = 0; i < elements.size() / sizeof(Bits); ++i) {
    Bits bits;
    std::memcpy(&bits, elements.data() + i * sizeof(Bits), sizeof bits);
    use(i, type.big_endian ? swapped(bits) : bits);
  }
}

template <class T>
void convert_floats(const ElementType& type, Bytes elements, T* out) {
  switch (type.kind) {
    case Kind::float16:
      return for_each<std::uint16_t>(type, elements, [out](std::size_t i, std::uint16_t bits) {
        out[i] = static_cast<T>(float_of_float16(bits));
      });
    case Kind::bfloat16:
      return for_each<std::uint16_t>(type, elements, [out](std::size_t i, std::uint16_t bits) {
        out[i] = static_cast<T>(float_of_bfloat16(bits));
      });
    case Kind::float32:
      if (std::is_same_v<T, float> && !type.big_endian)
        return static_cast<void>(std::memcpy(out, elements.data(), elements.size()));
      return for_each<std::uint32_t>(type, elements, [out](std::size_t i, std::uint32_t bits) {
        out[i] = static_cast<T>(std::bit_cast<float>(bits));
      });
    default:
      return for_each<std::uint64_t>(type, elements, [out](std::size_t i, std::uint64_t bits) {
        out[i] = static_cast<T>(std::bit_cast<double>(bits));
      });
  }
}

// Calls `use(i, value)` with every integer, as a std::int64_t or std::uint64_t.
template <class Use>
void for_each_integer(const ElementType& type, Bytes elements, const Use& use) {
  const auto visit = [&]<class Bits>(Bits) {
    for_each<Bits>(type, elements, [&](std::size_t i, Bits bits) {
      if (type.kind == Kind::signed_integer)
        use(i, std::int64_t{static_cast<std::make_signed_t<Bits>>(bits)});
      else
        use(i, std::uint64_t{bits});
    });
  };
  switch (type.bytes) {
    case 1:
      return visit(std::uint8_t{});
    case 2:
      return visit(std::uint16_t{});
    case 4:
      return visit(std::uint32_t{});
    default:
      return visit(std::uint64_t{});
  }
}

void check_text_size(std::uint64_t bytes, const Location& location) {
  if (bytes > Hdf5File::max_text_bytes)
    fail_at(location, concatenate_text("a string of at most ", Hdf5File::max_text_bytes, " bytes"),
            concatenate_text("one of ", bytes, " bytes"));
}

// A text in a global heap, "Disk Format: Level 1E" in the HDF5 File Format Specification.
std::string read_variable_text(Metadata& metadata, Bytes reference, const Location& location) {
  constexpr std::uint64_t header_size = 16;
  Cursor cursor(reference, location);
  const std::uint64_t length = cursor.number(4);
  Address at = cursor.address();
  const std::uint64_t wanted = cursor.number(4);
  if (length == 0) return "";
  check_text_size(length, location);
  const std::vector<std::byte> head = metadata.read(at, header_size, location);
  Cursor header(head, location);
  header.expect("GCOL");
  header.skip(4);
  const std::uint64_t collection = header.number(8);
  const Address end = collection > metadata.file().bytes_from(at) ? at : at + collection;
  for (at += header_size; at < end && end - at > header_size;) {
    const std::vector<std::byte> object_head = metadata.read(at, header_size, location);
    Cursor object(object_head, location);
    const std::uint64_t index = object.number(2);
    object.skip(6);
    const std::uint64_t size = object.number(8);
    at += header_size;
    if (index == 0 || size > end - at) break;
    if (index == wanted) {
      if (size != length) fail_with_damage(location, "a string of another length");
      const std::vector<std::byte> text = metadata.read(at, length, location);
      const auto* characters = reinterpret_cast<const char*>(text.data());
      return std::string(characters, ::strnlen(characters, text.size()));
    }
    at += (size + 7) / 8 * 8;
  }
  fail_with_damage(location, "a string that is not there");
}

std::string convert_text(Metadata& metadata, const ElementType& type, Bytes element,
                         const Location& location) {
  if (type.kind == Kind::variable_text) return read_variable_text(metadata, element, location);
  if (type.kind != Kind::text) fail_at(location, "a string", type.name);
  check_text_size(element.size(), location);
  const auto* text = reinterpret_cast<const char*>(element.data());
  return std::string(text, ::strnlen(text, element.size()));
}

}  // namespace

template <class T>
void check_convertible(const ElementType& type, const Location& location) {
  if constexpr (std::is_floating_point_v<T>) {
    if (!type.is_float())
      fail_at(location, "floating-point numbers of 16, 32 or 64 bits", type.name);
  } else if constexpr (std::is_same_v<T, bool>) {
    if (type.kind != Kind::boolean) fail_at(location, "bool, as written by h5py", type.name);
  } else if (!type.is_integer()) {
    fail_at(location, "integers", type.name);
  }
}

template <class T>
void convert_elements(const ElementType& type, Bytes elements, T* out, const Shape& shape,
                      Index first, const Location& location) {
  check_convertible<T>(type, location);
  if constexpr (std::is_floating_point_v<T>) {
    convert_floats(type, elements, out);
  } else if constexpr (std::is_same_v<T, bool>) {
    for_each<std::uint8_t>(type, elements,
                           [out](std::size_t i, std::uint8_t bits) { out[i] = bits != 0; });
  } else {
    for_each_integer(type, elements, [&](std::size_t i, auto value) {
      if (!std::in_range<T>(value))
        fail_at(location,
                sizeof(T) == 8 ? std::string("integers below 2^63")
                               : concatenate_text("integers of ", 8 * sizeof(T), " bits"),
                concatenate_text(value, " at ", shape.position(first + static_cast<Index>(i))));
      out[i] = static_cast<T>(value);
    });
  }
}

template <class T>
T convert_value(Metadata& metadata, const ElementType& type, const Shape& shape, Bytes element,
                const Location& location) {
  if (shape.elements() != 1) fail_at(location, "one value", concatenate_text("shape ", shape));
  if (element.size() < type.bytes) fail_with_damage(location, "a value that is too short");
  element = element.first(type.bytes);
  if constexpr (std::is_same_v<T, std::string>) {
    return convert_text(metadata, type, element, location);
  } else {
    T value{};
    convert_elements(type, element, &value, shape, 0, location);
    return value;
  }
}

#define WEFT_INSTANTIATE(T)                                                          \
  template void check_convertible<T>(const ElementType&, const Location&);           \
  template void convert_elements(const ElementType&, Bytes, T*, const Shape&, Index, \
                                 const Location&);
WEFT_INSTANTIATE(float)
WEFT_INSTANTIATE(double)
WEFT_INSTANTIATE(std::int32_t)
WEFT_INSTANTIATE(bool)
#undef WEFT_INSTANTIATE
template double convert_value(Metadata&, const ElementType&, const Shape&, Bytes, const Location&);
template std::int64_t convert_value(Metadata&, const ElementType&, const Shape&, Bytes,
                                    const Location&);
template std::string convert_value(Metadata&, const ElementType&, const Shape&, Bytes,
                                   const Location&);

}  // namespace weft::hdf5
