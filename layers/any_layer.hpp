// AnyLayer: a module of any type that maps one variable to one, as a value.
#pragma once

#include <concepts>
#include <memory>
#include <utility>

#include "weft/autograd/export.hpp"
#include "weft/autograd/tape.hpp"
#include "weft/layers/module.hpp"

namespace weft {

// A module that maps one variable to one.
template <class Layer, class T>
concept SequentialLayer = std::derived_from<Layer, Module<T>> && std::copy_constructible<Layer> &&
    requires(const Layer& layer, const Var<T>& x) {
  { layer(x) } -> std::same_as<Var<T>>;
};

// A module of any type that maps one variable to one. A copy has its own parameters. It has the
// type, the parameters and the children of the module that it holds, without a name of its own.
//   AnyLayer<float> layer(Activate(Activation::relu));
//   Var y = layer(x);
template <class T>
class AnyLayer final : public Module<T> {
 public:
  // Holds the layer.
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

  // The result of the module that it holds: shapes and errors are that module's.
  Var<T> operator()(const Var<T>& x) const { return (*held_)(x); }
  void members(Members<T>& members) const override { module().members(members); }
  Module<T>& module() const { return held_->module(); }  // that it holds

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
