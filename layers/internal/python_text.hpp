// Formats values as Python does, for modules printed in PyTorch's format.
#pragma once

#include <string>

namespace weft {

// "True" or "False"
std::string python_text(bool value);
// The shortest string that parses back to the value: "0.1", "0.0", "1e-05".
std::string python_text(double value);

}  // namespace weft
