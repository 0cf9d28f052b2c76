// Values as Python writes them, for modules that print as PyTorch's do.
#pragma once

#include <string>

namespace weft {

// "True" or "False"
std::string python_text(bool value);
// The shortest digits that read back as the value: "0.1", "0.0", "1e-05".
std::string python_text(double value);

}  // namespace weft
