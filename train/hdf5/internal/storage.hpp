// Checks a dataset before it is read: all of its data are in the file itself, and reading them
// takes memory and time in proportion to their size.
#pragma once

#include "weft/autograd/shape.hpp"
#include "train/hdf5/internal/handle.hpp"

namespace weft::hdf5 {

// Throws FileError for data in other files (external or virtual) and filters that are not built in.
// Reads only the dataset's properties.
void check_layout(hid_t properties, const Location& location);

// Throws FileError for data that were not written completely, chunks out of proportion to the data,
// and compressed chunks that do not inflate to exactly the expected size. Allocates at most one
// chunk.
void check_storage(hid_t dataset, const Shape& shape, const Location& location);

}  // namespace weft::hdf5
