// LayerNames: the tree of a model's layers, by number.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "weft/layers/module.hpp"

namespace weft {

// The tree of a model's layers. The model is layer 0; a layer has a larger number than the layer
// that contains it. For TrainableParameters, contains the layers of the whole model.
class LayerNames {
 public:
  template <class T>
  explicit LayerNames(const Module<T>& model);

  int size() const { return static_cast<int>(layers_.size()); }
  // Returns the full name of a layer, such as "blocks.0.attention"; empty for the model.
  const std::string& name(int layer) const { return layers_[static_cast<std::size_t>(layer)].name; }
  // Returns the class of a layer.
  const std::string& type(int layer) const { return layers_[static_cast<std::size_t>(layer)].type; }
  // Returns the layer that contains a layer; -1 for the model.
  int parent(int layer) const { return layers_[static_cast<std::size_t>(layer)].parent; }
  // Returns the name with "*" in place of the elements of lists: "blocks.*.attention".
  std::string pattern(int layer) const;
  // Returns the last part of the pattern, indented by two spaces for each enclosing layer; "model"
  // for the model.
  std::string indented(int layer) const;
  // Returns the number of parameter elements in a layer and the layers inside it.
  Index parameters(int layer) const { return layers_[static_cast<std::size_t>(layer)].parameters; }
  // Returns the type of a layer, and whether all its parameters are frozen.
  std::string description(int layer) const;
  // Returns the size of an element in bytes.
  double element_size() const { return element_size_; }
  // Returns the first layer that registers a Parameter<T>; -1 for a parameter of another model.
  int of_parameter(const void* parameter) const;
  // Returns the innermost layer that contains both. If this is a list, returns its element that
  // contains `first`.
  int common(int first, int second) const;

 private:
  template <class T>
  class Collector;
  struct Layer {
    std::string name, type;
    int parent;
    Index parameters = 0, trained = 0;
    bool is_element = false;  // whether it is an element of a list
  };

  std::vector<Layer> layers_;
  std::unordered_map<const void*, int> of_parameter_;
  double element_size_;
};

}  // namespace weft
