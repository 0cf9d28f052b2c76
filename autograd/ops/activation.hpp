// Activation functions, as separate operations and as part of fused operations such as `linear`.
#pragma once

#include <string>

#include "weft/autograd/enum_names.hpp"
#include "weft/autograd/export.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

// An activation function: `none` returns x itself, and the other values are the functions of the
// same name below.
enum class Activation { none, relu, gelu, gelu_tanh, silu, tanh, sigmoid, softplus, squared_relu };

inline constexpr EnumNames<Activation, 9> activation_names{{
    {Activation::none, "none"},
    {Activation::relu, "relu"},
    {Activation::gelu, "gelu"},
    {Activation::gelu_tanh, "gelu_tanh"},
    {Activation::silu, "silu"},
    {Activation::tanh, "tanh"},
    {Activation::sigmoid, "sigmoid"},
    {Activation::softplus, "softplus"},
    {Activation::squared_relu, "squared_relu"},
}};
inline std::string to_string(Activation activation) {
  return name_of("activation", activation, activation_names);
}

// Computes `y = f(x)` for each element of x, of any shape, like the function of the same name in
// torch.nn.functional. Throws ValueError if `activation` is not an enumerator.
//   const Activation f = options.swiglu ? Activation::silu : Activation::gelu;
//   Var y = activate(x, f);
template <class T>
WEFT_API Var<T> activate(const Var<T>& x, Activation activation);
// Computes `y = f(gate) ⊙ x` element by element (Shazeer, 2020), in one operation that keeps only
// its inputs. gate, x and the result have the same shape. Throws ShapeError if the shapes differ,
// and ValueError if `activation` is not an enumerator.
//   Var y = gated(w1(x), w3(x), Activation::silu);  // the hidden vectors of SwiGLU
template <class T>
WEFT_API Var<T> gated(const Var<T>& gate, const Var<T>& x, Activation activation);

// Computes `y = max(x, 0)` for each element of x, of any shape; the gradient at 0 is 0
// (torch.relu).
//   Var y = relu(tape.constant(Tensor<float>({3}, {-1, 0, 2})));  // [0, 0, 2]
template <class T>
Var<T> relu(const Var<T>& x) {
  return activate(x, Activation::relu);
}
// Computes `y = x · Φ(x)` for each element of x, of any shape: the Gaussian error linear unit
// (Hendrycks and Gimpel, 2016), computed exactly, with the error function.
//   Var y = gelu(linear(x, weight, bias));  // faster: linear(x, weight, bias, Activation::gelu)
template <class T>
Var<T> gelu(const Var<T>& x) {
  return activate(x, Activation::gelu);
}
// Computes `y = x / 2 · (1 + tanh(√(2/π) (x + 0.044715 x³)))` for each element of x, of any shape:
// the approximation of `gelu` that GPT-2 uses (Hendrycks and Gimpel, 2016).
//   Var y = gelu_tanh(x);
template <class T>
Var<T> gelu_tanh(const Var<T>& x) {
  return activate(x, Activation::gelu_tanh);
}
// Computes `y = x · σ(x)` for each element of x, of any shape: the sigmoid linear unit (Hendrycks
// and Gimpel, 2016), also called Swish.
//   Var y = silu(x);
template <class T>
Var<T> silu(const Var<T>& x) {
  return activate(x, Activation::silu);
}
// Computes `y = tanh(x)` for each element of x, of any shape (torch.tanh).
//   Var y = tanh(x);  // -1 ≤ y ≤ 1
template <class T>
Var<T> tanh(const Var<T>& x) {
  return activate(x, Activation::tanh);
}
// Computes `y = 1 / (1 + e^-x)` for each element of x, of any shape (torch.sigmoid).
//   Var gate = sigmoid(x);  // 0 ≤ gate ≤ 1
template <class T>
Var<T> sigmoid(const Var<T>& x) {
  return activate(x, Activation::sigmoid);
}
// Computes `y = log(1 + e^x)` for each element of x, of any shape: a smooth relu (torch's
// softplus).
//   Var scale = softplus(x);  // > 0
template <class T>
Var<T> softplus(const Var<T>& x) {
  return activate(x, Activation::softplus);
}
// Computes `y = max(x, 0)²` for each element of x, of any shape (So et al., 2021,
// https://arxiv.org/abs/2109.08668).
//   Var y = squared_relu(tape.constant(Tensor<float>({3}, {-1, 0.5, 2})));  // [0, 0.25, 4]
template <class T>
Var<T> squared_relu(const Var<T>& x) {
  return activate(x, Activation::squared_relu);
}
// Computes `y = max(x, 0) + slope · min(x, 0)` for each element of x, of any shape; the gradient at
// 0 is `slope` (torch's leaky_relu).
//   Var y = leaky_relu(tape.constant(Tensor<float>({2}, {-1, 2})));  // [-0.01, 2]
template <class T>
WEFT_API Var<T> leaky_relu(const Var<T>& x, double slope = 0.01);

}  // namespace weft
