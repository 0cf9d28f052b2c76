// Activation functions of Keras, and the layers that apply one. Include only in .cpp files.
#pragma once

#include "train/pretrained/keras/internal/keras_layer.hpp"

namespace weft {

// Returns the readers of these layers, by class.
template <class T>
KerasReaders<T> keras_activation_layers();

// An activation function.
template <class T>
using KerasActivation = std::function<Var<T>(const Var<T>&)>;
// Returns the activation function that an entry names. A missing entry is the identity.
template <class T>
KerasActivation<T> keras_activation(KerasConfig& config, const std::string& entry);

}  // namespace weft
