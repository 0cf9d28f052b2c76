// keras_convolution_layers: convolutions and pooling over time. Include only in .cpp files.
#pragma once

#include "train/pretrained/keras/internal/keras_layer.hpp"

namespace weft {

// Returns the readers of these layers, by class.
template <class T>
KerasReaders<T> keras_convolution_layers();

}  // namespace weft
