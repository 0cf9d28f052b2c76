// Sequential: modules of different types, one after the other.
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

// `y = f_n(… f_1(x))`: each module applied to the result of the one before; with no modules, x
// itself. Parameters have the names of torch.nn.Sequential: those of the modules below "0", "1", …
// In braces, layers draw their initial weights in this order; in parentheses, C++ leaves it open.
//   Sequential model{Linear({.in_features = 4, .out_features = 16}, random),
//                    Activate(Activation::relu), Dropout(0.1),
//                    Linear({.in_features = 16, .out_features = 3}, random)};
template <class T = float>
class WEFT_API Sequential final : public Module<T> {
 public:
  Sequential() = default;
  // These modules.
  template <class... Layers>
  requires(sizeof...(Layers) > 0 && !(std::same_as<Layers, Sequential> && ...) &&
           (SequentialLayer<Layers, T> && ...)) explicit Sequential(Layers... layers) {
    parts_.reserve(sizeof...(Layers));
    (append(std::move(layers)), ...);
  }

  // Adds a module after the others.
  template <SequentialLayer<T> Layer>
  void append(Layer layer) {
    parts_.emplace_back(std::move(layer));
  }

  // x of a shape that the first module takes; the result is the last module's. Throws what they
  // throw.
  Var<T> operator()(const Var<T>& x) const;

  void members(Members<T>& members) const override;

  Index size() const { return std::ssize(parts_); }  // the number of modules
  // The module at a position. Throws ValueError when there is none, and Error when it has another
  // type.
  template <class Layer>
  Layer& at(Index position) {
    auto* layer = dynamic_cast<Layer*>(&module(position));
    if (!layer)
      fail<Error>("Sequential", "a module of the requested type",
                  str_cat("one of another type at position ", position));
    return *layer;
  }

 private:
  Module<T>& module(Index position);

  std::vector<AnyLayer<T>> parts_;
};

// The type of the elements is that of the first module.
template <template <class> class First, class T, class... Others>
Sequential(First<T>, Others...) -> Sequential<T>;

extern template class Sequential<float>;
extern template class Sequential<double>;

}  // namespace weft
