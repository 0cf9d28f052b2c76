// Activation functions, as operations of their own and for fused operations such as `linear`.
#pragma once

#include <string>

#include "weft/autograd/enum_names.hpp"
#include "weft/autograd/export.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

enum class Activation { none, relu, gelu, gelu_tanh, silu, tanh, sigmoid, softplus };

inline constexpr EnumNames<Activation, 8> activation_names{{
    {Activation::none, "none"},
    {Activation::relu, "relu"},
    {Activation::gelu, "gelu"},
    {Activation::gelu_tanh, "gelu_tanh"},
    {Activation::silu, "silu"},
    {Activation::tanh, "tanh"},
    {Activation::sigmoid, "sigmoid"},
    {Activation::softplus, "softplus"},
}};
inline std::string to_string(Activation activation) {
  return name_of("activation", activation, activation_names);
}

// The activation of each element; x itself for Activation::none. Throws ValueError for a value that
// is not an Activation.
template <class T>
WEFT_API Var<T> activate(const Var<T>& x, Activation activation);

// max(x, 0); the gradient at 0 is 0.
template <class T>
Var<T> relu(const Var<T>& x) {
  return activate(x, Activation::relu);
}
// x · Φ(x), the exact Gaussian error linear unit (Hendrycks and Gimpel, 2016), by the error
// function.
template <class T>
Var<T> gelu(const Var<T>& x) {
  return activate(x, Activation::gelu);
}
// The same paper's approximation: x/2 · (1 + tanh(√(2/π) (x + 0.044715 x³))). GPT-2's form.
template <class T>
Var<T> gelu_tanh(const Var<T>& x) {
  return activate(x, Activation::gelu_tanh);
}
// x · σ(x), the sigmoid linear unit (Hendrycks and Gimpel, 2016), also called Swish.
template <class T>
Var<T> silu(const Var<T>& x) {
  return activate(x, Activation::silu);
}
template <class T>
Var<T> tanh(const Var<T>& x) {
  return activate(x, Activation::tanh);
}
// 1 / (1 + e^-x)
template <class T>
Var<T> sigmoid(const Var<T>& x) {
  return activate(x, Activation::sigmoid);
}
// log(1 + e^x), a smooth relu.
template <class T>
Var<T> softplus(const Var<T>& x) {
  return activate(x, Activation::softplus);
}
// x above 0, slope · x below; the gradient at 0 is the slope.
template <class T>
WEFT_API Var<T> leaky_relu(const Var<T>& x, double slope = 0.01);

}  // namespace weft
