// AnyLayer: a type-erased module with one input and one output.
#pragma once

#include <concepts>
#include <memory>
#include <utility>

#include "weft/autograd/export.hpp"
#include "weft/autograd/tape.hpp"
#include "weft/layers/module.hpp"

namespace weft {

// A copyable module that takes one variable and returns one.
template <class Layer, class T>
concept SequentialLayer = std::derived_from<Layer, Module<T>> && std::copy_constructible<Layer> &&
    requires(const Layer& layer, const Var<T>& x) {
  { layer(x) } -> std::same_as<Var<T>>;
};

// Holds a module of any type that takes one variable and returns one, much as std::function holds a
// function. A copy has its own parameters. Visitors see the type, the parameters and the children
// of the held module, without an additional level of names.
//   AnyLayer<float> layer(Activate(Activation::relu));
//   Var y = layer(x);
template <class T>
class AnyLayer final : public Module<T> {
 public:
  // Holds `layer`.
  template <class Layer>
  requires(!std::same_as<Layer, AnyLayer> &&
           SequentialLayer<Layer, T>) explicit AnyLayer(Layer layer)
      : held_(std::make_unique<Held<Layer>>(std::move(layer))) {}
  AnyLayer(const AnyLayer& other) : Module<T>(other), held_(other.held_->clone()) {}
  AnyLayer(AnyLayer&&) noexcept = default;
  AnyLayer& operator=(AnyLayer other) noexcept {
    held_ = std::move(other.held_);
    return *this;
  }

  // Returns the result of the held module, which determines the shapes and the exceptions.
  Var<T> operator()(const Var<T>& x) const { return (*held_)(x); }
  void members(Members<T>& members) const override { module().members(members); }
  Module<T>& module() const { return held_->module(); }  // the held module

 private:
  struct Base {
    virtual ~Base() = default;
    virtual std::unique_ptr<Base> clone() const = 0;
    virtual Var<T> operator()(const Var<T>& x) const = 0;
    virtual Module<T>& module() = 0;
  };
  template <class Layer>
  struct Held final : Base {
    explicit Held(Layer held) : layer(std::move(held)) {}
    std::unique_ptr<Base> clone() const override { return std::make_unique<Held>(layer); }
    Var<T> operator()(const Var<T>& x) const override { return layer(x); }
    Module<T>& module() override { return layer; }
    Layer layer;
  };

  std::unique_ptr<Base> held_;
};

}  // namespace weft
