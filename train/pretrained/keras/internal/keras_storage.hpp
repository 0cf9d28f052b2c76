// The file from which a KerasModel was loaded, and the places of its weights in files. Include only
// in .cpp files.
#pragma once

#include <string>

#include "weft/train/pretrained/keras/keras_model.hpp"
#include "train/pretrained/keras/internal/keras_layer.hpp"
#include "train/pretrained/keras/internal/zip_archive.hpp"
#include "train/weights/internal/keras_names.hpp"

namespace weft {

// What a file contains apart from the weights. `save_keras` writes it again.
struct KerasStorage {
  bool is_archive = false;
  // The attributes of a whole-model file in HDF5 format, such as "model_config", or the members of
  // a .keras archive, such as "config.json".
  ZipMembers texts;
  // In HDF5 format, the layers with the names of their weights.
  KerasLayerNames layers = {};
};

template <class T>
struct KerasModelState {
  KerasLayer<T> root;
  KerasStorage storage;

  static KerasModelState& of(const KerasModel<T>& model) { return *model.state_; }
};

}  // namespace weft
