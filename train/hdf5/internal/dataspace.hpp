// Dataspaces: the shapes of datasets and attributes.
#pragma once

#include "weft/autograd/shape.hpp"
#include "train/hdf5/internal/cursor.hpp"

namespace weft::hdf5 {

// The shape that a message describes. Throws FileError for a null dataspace, for one of more than
// Shape::max_rank axes or too many elements, and for a damaged message.
Shape read_shape(Bytes message, const Location& location);

}  // namespace weft::hdf5
