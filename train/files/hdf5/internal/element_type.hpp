// The type of the elements of a dataset or an attribute, and its shape.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "weft/autograd/shape.hpp"
#include "train/files/hdf5/internal/cursor.hpp"

namespace weft::hdf5 {

struct ElementType {
  enum class Kind {
    float16,
    bfloat16,
    float32,
    float64,
    signed_integer,
    unsigned_integer,
    boolean,        // h5py's enumeration of FALSE and TRUE
    text,           // of fixed length
    variable_text,  // a reference to a text elsewhere in the file
    other,
  };

  Kind kind;
  std::size_t bytes;  // of an element in the file
  bool big_endian;
  std::string name;  // "float32", "big-endian int64", "bool", "string", "compound", …

  bool is_float() const { return kind <= Kind::float64; }
  bool is_integer() const { return kind == Kind::signed_integer || kind == Kind::unsigned_integer; }
};

// The type that a message describes. Throws StructureError for a damaged message.
ElementType read_element_type(Cursor message);

inline constexpr std::uint64_t unlimited = ~std::uint64_t{0};

struct Extent {
  Shape shape;
  // The sizes that the axes may grow to; those of the shape when it may not.
  std::array<std::uint64_t, Shape::max_rank> limits;
};

// The extent that a dataspace message describes. Throws StructureError for a null dataspace, for
// one of more than Shape::max_rank axes or too many elements, and for a damaged message.
Extent read_extent(Cursor message);
inline Shape read_shape(Cursor message) { return read_extent(std::move(message)).shape; }

}  // namespace weft::hdf5
