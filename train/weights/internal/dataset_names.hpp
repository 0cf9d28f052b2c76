// Conversion between the dotted names of parameters and the paths of datasets: "encoder.0.weight"
// is stored as /encoder/0/weight.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "weft/train/files/tensor_file.hpp"

namespace weft {

// Returns the path for a dotted name. Throws ValueError if the name has an empty part or contains
// '/' or NUL.
std::string path_of_name(const std::string& name);

// Maps names to paths of datasets.
using PathsByName = std::map<std::string, std::string>;

// Returns all datasets below a group. The name of a dataset is its path relative to the group with
// '.' instead of '/', so dots and groups are equivalent. Throws FileError if two datasets have the
// same name.
PathsByName datasets_by_name(const TensorFile& file, const std::string& group);

// The group that contains the moving averages of a model's parameters in a checkpoint (see
// TrainingLoop::track_average). Parameters have the same names below it as below /model.
inline constexpr const char* average_group = "average";
// The group with the options of a checkpoint's model.
inline constexpr const char* options_group = "model_options";

// If the file is a checkpoint with a moving average that has been updated, replaces the path of
// each averaged parameter in `paths` with the path of its average. The keys of `paths` consist of
// `prefix` and a parameter name. Returns the names of the replaced datasets.
std::vector<std::string> use_average(const TensorFile& file, const std::string& prefix,
                                     PathsByName& paths);

}  // namespace weft
