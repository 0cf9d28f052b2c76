// Names of parameters and paths of datasets: "encoder.0.weight" is /encoder/0/weight in a file.
#pragma once

#include <map>
#include <string>

#include "weft/train/hdf5/hdf5_file.hpp"

namespace weft {

// The path of a name. Throws ValueError for a name with an empty part, a '/' or a NUL.
std::string path_of_name(const std::string& name);

// The paths of all datasets below a group by their names: the rest of the path with '.' for '/'.
// Dots and groups are thus equivalent. Throws FileError when two datasets have the same name.
std::map<std::string, std::string> datasets_by_name(const Hdf5File& file, const std::string& group);

}  // namespace weft
