// The names that objects of a file may have, read or written by weft.
#pragma once

#include <string>
#include <string_view>

#include "train/files/hdf5/internal/location.hpp"

namespace weft::hdf5 {

// Returns whether an object may have the name: printable, not "." or "..", without '/', and of 1 to
// Hdf5File::max_name_bytes bytes.
bool is_name(std::string_view name);

// Returns whether an object may have the full path: names, in at most Hdf5File::max_depth groups.
bool is_path(std::string_view full_path);

// Throws ValueError unless a new dataset may have the full path.
void check_new_dataset(const Location& location);

}  // namespace weft::hdf5
