// Activate: an activation function as a module.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/autograd/ops/activation.hpp"
#include "weft/autograd/tape.hpp"
#include "weft/layers/module.hpp"

namespace weft {

// `y = f(x)`: torch.nn.ReLU, GELU, SiLU, Tanh, Sigmoid, Softplus or Identity, for a Sequential.
// Linear applies an activation in the same operation, which is faster.
//   Sequential model(Activate(Activation::silu), Dropout(0.1));
template <class T = float>
struct WEFT_API Activate : Module<T> {
  // Throws ValueError for a value that is not an Activation.
  explicit Activate(Activation activation);

  // x of any shape, result of the same shape.
  Var<T> operator()(const Var<T>& x) const;

  void members(Members<T>& members) const override;

  Activation activation;  // the function f
};

extern template struct Activate<float>;
extern template struct Activate<double>;

}  // namespace weft
