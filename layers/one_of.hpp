// OneOf: a member that is one of several layers, chosen by an option, or any other.
#pragma once

#include <concepts>
#include <utility>
#include <variant>

#include "weft/autograd/tape.hpp"
#include "weft/layers/any_layer.hpp"

namespace weft {

// Has the type, the parameters and the children of the layer that it holds, without a name of its
// own: "norm1.weight" for a LayerNorm and an RMSNorm alike. The layers map one variable to one. To
// replace one of a model by a layer of your own, assign it as AnyLayer:
//   gpt.blocks.blocks[0].ffn =
//       AnyLayer<float>(Linear({.in_features = 8, .out_features = 8}, random));
template <class T, template <class> class... Layers>
struct OneOf final : Module<T> {
  // Holds the layer.
  template <class Layer>
  requires((std::same_as<Layer, Layers<T>> || ...) || std::same_as<Layer, AnyLayer<T>>)
      OneOf(Layer held)
      : layer(std::move(held)) {}

  // The result of the layer that it holds: shapes and errors are that layer's.
  Var<T> operator()(const Var<T>& x) const {
    return std::visit([&](const auto& held) { return held(x); }, layer);
  }

  void members(Members<T>& members) const override {
    std::visit([&](const auto& held) { held.members(members); }, layer);
  }

  // The layer of a type; null when it holds another.
  template <template <class> class Layer>
  Layer<T>* get_if() {
    return std::get_if<Layer<T>>(&layer);
  }
  template <template <class> class Layer>
  const Layer<T>* get_if() const {
    return std::get_if<Layer<T>>(&layer);
  }

  std::variant<Layers<T>..., AnyLayer<T>> layer;  // that it holds
};

}  // namespace weft
