// The type of the elements of a dataset or an attribute, and its shape.
#pragma once

#include <cstddef>
#include <string>

#include "weft/autograd/shape.hpp"
#include "train/hdf5/internal/cursor.hpp"

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

// The shape that a dataspace message describes. Throws StructureError for a null dataspace, for one
// of more than Shape::max_rank axes or too many elements, and for a damaged message.
Shape read_shape(Cursor message);

}  // namespace weft::hdf5
