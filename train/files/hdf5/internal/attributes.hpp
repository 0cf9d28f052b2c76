// Attributes: named values of a group or a dataset.
#pragma once

#include <optional>
#include <string_view>

#include "train/files/hdf5/internal/element_type.hpp"
#include "train/files/hdf5/internal/object_header.hpp"

namespace weft::hdf5 {

// Its data refer to the file for strings of variable length.
struct Attribute {
  ElementType type;
  Shape shape;
  Cursor data;
};

// None when the object has no attribute of this name. Throws StructureError for a damaged one, and
// as read_shape does.
std::optional<Attribute> find_attribute(Metadata& metadata, const ObjectHeader& object,
                                        std::string_view name);

}  // namespace weft::hdf5
