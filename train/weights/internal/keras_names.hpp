// The names of layers and weights in Keras's HDF5 files.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/train/files/hdf5/hdf5_file.hpp"
#include "train/weights/internal/dataset_names.hpp"

namespace weft {

// The group that contains the layers in the file of a whole model.
inline constexpr const char* keras_weights_group = "/model_weights";

// The layers, in the order of the model, with the names of their weights.
using KerasLayerNames = std::vector<std::pair<std::string, std::vector<std::string>>>;

// Returns the layers of a group, "" for the root, of a file in Keras's legacy format. Throws
// FileError if the group or a layer does not list its contents.
WEFT_API KerasLayerNames keras_layer_names(const Hdf5File& file, const std::string& group);

// Returns the name of a dataset; for a weight of a recurrent layer of Keras 2, its name in the
// layout of Keras 3: "a.b.forward_lstm.lstm_cell_1.kernel:0" is "a.b.forward_layer.cell.vars.0".
std::string in_keras_3_cell(const std::string& dataset, const PathsByName& paths);

}  // namespace weft
