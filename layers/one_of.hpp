// OneOf: holds one of several types of layers, or any other layer.
#pragma once

#include <concepts>
#include <utility>
#include <variant>

#include "weft/autograd/tape.hpp"
#include "weft/layers/any_layer.hpp"

namespace weft {

// Holds a layer of one of the types `Layers`, or any other layer as an AnyLayer. Layers take one
// variable and return one. Visitors see the type, the parameters and the children of the held
// layer, without an additional level of names: the weight of `norm1` is "norm1.weight" for a
// LayerNorm and an RMSNorm alike. To replace a layer of a model by your own, assign an AnyLayer:
//   gpt.blocks.blocks[0].ffn =
//       AnyLayer<float>(Linear({.in_features = 8, .out_features = 8}, random));
template <class T, template <class> class... Layers>
struct OneOf final : Module<T> {
  // Holds `held`.
  template <class Layer>
  requires((std::same_as<Layer, Layers<T>> || ...) || std::same_as<Layer, AnyLayer<T>>)
      OneOf(Layer held)
      : layer(std::move(held)) {}

  // Returns the result of the held layer, which determines the shapes and the exceptions.
  Var<T> operator()(const Var<T>& x) const {
    return std::visit([&](const auto& held) { return held(x); }, layer);
  }

  void members(Members<T>& members) const override {
    std::visit([&](const auto& held) { held.members(members); }, layer);
  }

  // Returns the held layer if its type is `Layer`, and null otherwise.
  template <template <class> class Layer>
  Layer<T>* get_if() {
    return std::get_if<Layer<T>>(&layer);
  }
  template <template <class> class Layer>
  const Layer<T>* get_if() const {
    return std::get_if<Layer<T>>(&layer);
  }

  std::variant<Layers<T>..., AnyLayer<T>> layer;  // the held layer
};

}  // namespace weft
