// Names of parameters and paths of datasets: "encoder.0.weight" is /encoder/0/weight in a file.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "weft/train/files/tensor_file.hpp"

namespace weft {

// The path of a name. Throws ValueError for a name with an empty part, a '/' or a NUL.
std::string path_of_name(const std::string& name);

// The paths of datasets by their names.
using PathsByName = std::map<std::string, std::string>;

// The paths of all datasets below a group by their names: the rest of the path with '.' for '/'.
// Dots and groups are thus equivalent. Throws FileError when two datasets have the same name.
PathsByName datasets_by_name(const TensorFile& file, const std::string& group);

// The group of the moving average of a model's parameters in a checkpoint (see
// TrainingLoop::track_average), below which each parameter has the name that it has below /model.
inline constexpr const char* average_group = "average";
// The group with the options of a checkpoint's model.
inline constexpr const char* options_group = "model_options";

// If the file is a checkpoint with an average that has been updated, which then is the model that
// reading its weights gives, replaces the paths of the parameters that it contains, whose names are
// `prefix` and those in the model. Returns the names of the datasets that were replaced.
std::vector<std::string> use_average(const TensorFile& file, const std::string& prefix,
                                     PathsByName& paths);

}  // namespace weft
