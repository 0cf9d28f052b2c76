// Where a dataset's bytes are, checked before they are read: all of them in the file itself, in a
// form that takes no more memory and time than their number deserves.
#pragma once

#include "weft/autograd/shape.hpp"
#include "train/hdf5/internal/handle.hpp"

namespace weft::hdf5 {

// Refuses data in other files (external or virtual) and filters that are not built in. Looks at the
// dataset's properties only.
void check_layout(hid_t properties, const Place& place);

// Refuses data that were never written, or not all of them; chunks out of proportion; compressed
// chunks that do not inflate to exactly what they should. Allocates no more than a chunk.
void check_storage(hid_t dataset, const Shape& shape, const Place& place);

}  // namespace weft::hdf5
