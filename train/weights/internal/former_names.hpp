// Names of states and parameters in files of weft 0.1.0 and earlier.
#pragma once

#include <string>

namespace weft {

// The name that a state or a parameter of this name had; empty when it had no other.
std::string former_name(const std::string& name);

}  // namespace weft
