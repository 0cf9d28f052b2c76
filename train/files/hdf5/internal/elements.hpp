// The types of elements in a file, and the conversion of elements to numbers, strings and booleans.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "weft/autograd/shape.hpp"
#include "weft/autograd/tensor.hpp"
#include "weft/train/files/hdf5/hdf5_writer.hpp"
#include "train/files/hdf5/internal/bytes.hpp"

namespace weft::hdf5 {

// The type of the elements of a dataset or an attribute, and its shape.

struct ElementType {
  enum class Kind {
    float16,
    bfloat16,
    float32,
    float64,
    signed_integer,
    unsigned_integer,
    boolean,        // h5py's enumeration of FALSE and TRUE
    text,           // a string of fixed length
    variable_text,  // a reference to a string elsewhere in the file
    other,
  };

  Kind kind;
  std::size_t bytes;  // size of an element in the file
  bool big_endian;
  std::string name;  // "float32", "big-endian int64", "bool", "string", "compound", …

  bool is_float() const { return kind <= Kind::float64; }
  bool is_integer() const { return kind == Kind::signed_integer || kind == Kind::unsigned_integer; }
};

// Parses the message that describes a type. Throws StructureError for a damaged message.
ElementType read_element_type(Cursor message);

inline constexpr std::uint64_t unlimited = ~std::uint64_t{0};

struct Extent {
  Shape shape;
  // The maximum sizes of the axes, equal to the shape if it cannot grow.
  std::array<std::uint64_t, Shape::max_rank> limits;
};

// Parses a dataspace message. Throws StructureError for a null dataspace, for more than
// Shape::max_rank axes or too many elements, and for a damaged message.
Extent read_extent(Cursor message);
inline Shape read_shape(Cursor message) { return read_extent(std::move(message)).shape; }

// Conversions between the elements in a file and numbers, strings and booleans.

// Throws StructureError unless elements of the type can be converted to T: floating-point types of
// 16, 32 and 64 bits to float and double, integers to std::int32_t and std::int64_t, bool to bool.
template <class T>
void check_convertible(const ElementType& type);

// Converts elements; the first one has the index `first` in a tensor of `shape`, whose positions
// errors name. Throws StructureError for an integer that T cannot represent, and the same
// exceptions as check_convertible.
template <class T>
void convert_elements(const ElementType& type, Bytes elements, T* out, const Shape& shape,
                      Index first);

// Converts the only element of `shape`. T is double, std::int64_t or std::string (which may be
// stored elsewhere in the file).
template <class T>
T convert_value(Metadata& metadata, const ElementType& type, const Shape& shape, Bytes element);

// Calls `sink` with all elements of a tensor as they are stored in a file, a block at a time.
// Throws ValueError, naming the location, for a number that the type cannot represent.
template <class T>
void store_elements(const Tensor<T>& tensor, StorageType type, const Location& location,
                    const std::function<void(Bytes)>& sink);

}  // namespace weft::hdf5
