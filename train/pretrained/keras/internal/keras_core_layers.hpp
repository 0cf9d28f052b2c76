// keras_core_layers: Dense, Embedding, Masking, dropout, shapes and normalizations. Include only in
// .cpp files.
#pragma once

#include "train/pretrained/keras/internal/keras_layer.hpp"

namespace weft {

// Returns the readers of these layers, by class.
template <class T>
KerasReaders<T> keras_core_layers();

}  // namespace weft
