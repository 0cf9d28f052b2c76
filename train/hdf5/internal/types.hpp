// Names of the types that elements of HDF5 files have.
#pragma once

#include <hdf5.h>

#include <string>

namespace weft::hdf5 {

// "float32", "big-endian int64", "bool", "string", "compound", …
std::string type_name(hid_t type);

}  // namespace weft::hdf5
