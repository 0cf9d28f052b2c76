#include "weft/autograd/ops/activation.hpp"

#include "weft/autograd/error.hpp"

namespace weft {

std::string to_string(Activation activation) {
  switch (activation) {
    case Activation::none:
      return "none";
    case Activation::relu:
      return "relu";
    case Activation::gelu:
      return "gelu";
    case Activation::gelu_tanh:
      return "gelu_tanh";
    case Activation::tanh:
      return "tanh";
    case Activation::sigmoid:
      return "sigmoid";
  }
  fail<ValueError>("activation", "one of Activation's values", static_cast<int>(activation));
}

}  // namespace weft
