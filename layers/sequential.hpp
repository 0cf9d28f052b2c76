// Sequential: modules of any types, applied one after another.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>
#include <vector>

#include "weft/autograd/error.hpp"
#include "weft/autograd/export.hpp"
#include "weft/autograd/tape.hpp"
#include "weft/layers/any_layer.hpp"

namespace weft {

// Applies modules one after another: `y = f_n(… f_1(x))`. Without modules, y is x. Parameters are
// named as in torch.nn.Sequential: the first module's below "0", the second's below "1". In braces,
// C++ constructs the modules from left to right, so that they draw their initial weights in this
// order; in parentheses, the order is unspecified.
//   Sequential model{Linear({.in_features = 4, .out_features = 16}, random),
//                    Activate(Activation::relu), Dropout(0.1),
//                    Linear({.in_features = 16, .out_features = 3}, random)};
template <class T = float>
class WEFT_API Sequential final : public Module<T> {
 public:
  Sequential() = default;
  // Holds `layers`, in this order.
  template <class... Layers>
  requires(sizeof...(Layers) > 0 && !(std::same_as<Layers, Sequential> && ...) &&
           (SequentialLayer<Layers, T> && ...)) explicit Sequential(Layers... layers) {
    parts_.reserve(sizeof...(Layers));
    (append(std::move(layers)), ...);
  }

  // Appends a module.
  template <SequentialLayer<T> Layer>
  void append(Layer layer) {
    parts_.emplace_back(std::move(layer));
  }

  // Takes x of any shape that the first module accepts, and returns the result of the last module.
  // Throws the exceptions of the modules.
  Var<T> operator()(const Var<T>& x) const;

  void members(Members<T>& members) const override;

  Index size() const { return std::ssize(parts_); }  // the number of modules
  // Returns the module at `position`. Throws ValueError unless 0 ≤ position < size(), and Error if
  // the module is not a `Layer`.
  template <class Layer>
  Layer& at(Index position) {
    auto* layer = dynamic_cast<Layer*>(&module(position));
    if (!layer)
      fail<Error>(str_cat("Sequential: module ", position), "the requested type",
                  "a different type");
    return *layer;
  }

 private:
  Module<T>& module(Index position);

  std::vector<AnyLayer<T>> parts_;
};

// Deduces the type of the elements, T, from the first module.
template <template <class> class First, class T, class... Others>
Sequential(First<T>, Others...) -> Sequential<T>;

extern template class Sequential<float>;
extern template class Sequential<double>;

}  // namespace weft
