// Attributes: named values of a group or a dataset.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "weft/autograd/shape.hpp"
#include "train/hdf5/internal/element_type.hpp"
#include "train/hdf5/internal/object_header.hpp"

namespace weft::hdf5 {

// Its data refer to the file for strings of variable length.
struct Attribute {
  ElementType type;
  Shape shape;
  std::vector<std::byte> data;
};

// None when the object has no attribute of this name. Throws FileError for a damaged one, and as
// read_shape does.
std::optional<Attribute> find_attribute(Metadata& metadata, const ObjectHeader& object,
                                        const std::string& name, const Location& location);

}  // namespace weft::hdf5
