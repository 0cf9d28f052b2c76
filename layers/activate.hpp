// Activate: an activation function as a module.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/autograd/ops/activation.hpp"
#include "weft/autograd/tape.hpp"
#include "weft/layers/module.hpp"

namespace weft {

// Applies an activation function to each element, `y = f(x)`, like torch.nn.ReLU, GELU, SiLU, Tanh,
// Sigmoid, Softplus or Identity. Meant for use in a Sequential; a Linear can apply an activation in
// the same operation, which is faster.
//   Sequential model(Activate(Activation::silu), Dropout(0.1));
template <class T = float>
struct WEFT_API Activate : Module<T> {
  // Throws ValueError if `activation` is not a value of Activation.
  explicit Activate(Activation activation);

  // Returns f(x), which has the shape of x.
  Var<T> operator()(const Var<T>& x) const;

  void members(Members<T>& members) const override;

  Activation activation;  // the function f
};

extern template struct Activate<float>;
extern template struct Activate<double>;

}  // namespace weft
