// LayerNames: the tree of a model's layers, by number.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "weft/layers/module.hpp"

namespace weft {

// The model is layer 0; a layer has a larger number than the one that contains it. Of
// TrainableParameters, the layers of the whole model.
class LayerNames {
 public:
  template <class T>
  explicit LayerNames(const Module<T>& model);

  int size() const { return static_cast<int>(layers_.size()); }
  // "blocks.0.attention"; empty for the model.
  const std::string& name(int layer) const { return layers_[static_cast<std::size_t>(layer)].name; }
  // Its class.
  const std::string& type(int layer) const { return layers_[static_cast<std::size_t>(layer)].type; }
  // -1 for the model.
  int parent(int layer) const { return layers_[static_cast<std::size_t>(layer)].parent; }
  // The name with "*" for the elements of lists: "blocks.*.attention".
  std::string pattern(int layer) const;
  // The last part of the pattern, indented by two spaces for each layer around it; "model" for it.
  std::string indented(int layer) const;
  // The elements of its parameters and of those of the layers in it.
  Index parameters(int layer) const { return layers_[static_cast<std::size_t>(layer)].parameters; }
  // The type, and whether all parameters are frozen.
  std::string description(int layer) const;
  // The bytes of an element.
  double element_size() const { return element_size_; }
  // The layer that registers a Parameter<T> first; -1 for one of another model.
  int of_parameter(const void* parameter) const;
  // The innermost layer that contains both; of a list, the element that `first` is in.
  int common(int first, int second) const;

 private:
  template <class T>
  class Collector;
  struct Layer {
    std::string name, type;
    int parent;
    Index parameters = 0, trained = 0;
    bool is_element = false;  // of a list
  };

  std::vector<Layer> layers_;
  std::unordered_map<const void*, int> of_parameter_;
  double element_size_;
};

}  // namespace weft
