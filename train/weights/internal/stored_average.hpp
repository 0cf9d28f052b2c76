// The moving average of a model's parameters in a checkpoint, which is the model that reading its
// weights gives (see TrainingLoop::keep_average).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "weft/train/hdf5/hdf5_file.hpp"

namespace weft {

// The group of the average, below which each parameter has the name that it has below /model.
inline constexpr const char* average_group = "average";

// Whether the file is a checkpoint with an average that has been updated.
bool has_average(const Hdf5File& file);

// If the file has an average, replaces the paths of the parameters that it contains. `paths`: those
// of datasets by name, a parameter's being `prefix` and its name in the model. Returns the names of
// the datasets that were replaced.
std::vector<std::string> use_average(const Hdf5File& file, const std::string& prefix,
                                     std::map<std::string, std::string>& paths);

}  // namespace weft
