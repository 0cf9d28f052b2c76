#include "weft/layers/activate.hpp"

#include <utility>

namespace weft {
namespace {

// The type and the arguments that PyTorch prints.
std::pair<const char*, const char*> printed(Activation activation) {
  switch (activation) {
    case Activation::none:
      return {"Identity", ""};
    case Activation::relu:
      return {"ReLU", ""};
    case Activation::gelu:
      return {"GELU", "approximate='none'"};
    case Activation::gelu_tanh:
      return {"GELU", "approximate='tanh'"};
    case Activation::silu:
      return {"SiLU", ""};
    case Activation::tanh:
      return {"Tanh", ""};
    case Activation::sigmoid:
      return {"Sigmoid", ""};
    case Activation::softplus:
      return {"Softplus", ""};
    case Activation::squared_relu:
      return {"ReLUSquaredActivation", ""};
  }
  return {"Activate", ""};
}

}  // namespace

template <class T>
Activate<T>::Activate(Activation function) : activation(function) {
  to_string(activation);  // throws for a value that is not an Activation
}

template <class T>
Var<T> Activate<T>::operator()(const Var<T>& x) const {
  return activate(x, activation);
}

template <class T>
void Activate<T>::members(Members<T>& members) const {
  const auto [type, arguments] = printed(activation);
  members.type(type, arguments);
}

template struct Activate<float>;
template struct Activate<double>;

}  // namespace weft
