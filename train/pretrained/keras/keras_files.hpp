// load_keras and save_keras: open and save whole models of Keras.
#pragma once

#include <filesystem>

#include "weft/autograd/export.hpp"
#include "weft/layers/summary.hpp"
#include "weft/train/pretrained/keras/keras_model.hpp"

namespace weft {

// Opens a whole model that Keras 2 or Keras 3 saved with model.save("model.h5") or
// model.save("model.keras"). Supports these layers: Input, Embedding, Masking, Dense, activation
// layers, Dropout and SpatialDropout1D, SimpleRNN, GRU, LSTM, Bidirectional, TimeDistributed,
// RepeatVector, Conv1D, SeparableConv1D, DepthwiseConv1D, pooling in one dimension, Flatten,
// Reshape, Permute, padding, cropping and upsampling in one dimension, LayerNormalization,
// BatchNormalization, UnitNormalization, Rescaling, Attention, AdditiveAttention,
// MultiHeadAttention, the layers that merge inputs, and models within models.
//
// Throws FileError, naming the file, the layer and its class, for a layer or an option that is not
// supported, such as a constraint; for weights that do not match the layers; for a file that
// contains only weights (see the function below, or load_weights for a model of one's own); and for
// damaged files.
//   KerasModel model = load_keras("model.h5");
//   Tape tape = Tape<>::inference();
//   Var y = model(tape.constant(X));  // equal to Keras's model.predict(x)
template <class T = float>
WEFT_API KerasModel<T> load_keras(const std::filesystem::path& path);

// Opens a model of Keras 2 whose layers were saved with model.to_json() and whose weights were
// saved with model.save_weights("weights.h5") or model.save("model.h5"). Throws the same
// exceptions.
//   KerasModel model = load_keras("model.json", "weights.h5");
template <class T = float>
WEFT_API KerasModel<T> load_keras(const std::filesystem::path& architecture,
                                  const std::filesystem::path& weights);

// Saves a model in the form of the file from which it was loaded, which Keras opens: a name that
// ends with ".keras" for an archive, ".h5" or ".hdf5" for a whole model in HDF5 format. A name that
// ends with ".weights.h5" saves the weights alone, for Keras 3's model.load_weights. Optimizer
// states are not saved. Throws ValueError for a name with another ending, and FileError if the file
// cannot be written. An existing file is replaced only when the new one is complete.
//   KerasModel model = load_keras("model.keras");
//   save_keras("further.keras", model);
template <class T>
WEFT_API void save_keras(const std::filesystem::path& path, const KerasModel<T>& model);

}  // namespace weft
