// keras_models: Sequential and functional models, and their inputs. Include only in .cpp files.
#pragma once

#include "train/pretrained/keras/internal/keras_layer.hpp"

namespace weft {

// Returns the readers of these layers, by class.
template <class T>
KerasReaders<T> keras_models();

// Returns the operations that Keras 3 records in a model's configuration to compute masks.
template <class T>
KerasReaders<T> keras_operations();

}  // namespace weft
