// Activation: the functions that a linear operation can apply to its result as it writes it.
#pragma once

#include <string>

namespace weft {

enum class Activation { none, relu, gelu, gelu_tanh, tanh, sigmoid };

// "relu", "gelu_tanh", …
std::string to_string(Activation activation);

}  // namespace weft
