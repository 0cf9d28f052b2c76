// NameFilter: selects parameters of a model by their full names.
#pragma once

#include <functional>
#include <string>
#include <utility>

namespace weft {

// Whether a parameter of this full name is selected. Functions that have the model select a
// parameter with several names (tied weights) when the filter selects any of them.
using NameFilter = std::function<bool(const std::string& name)>;

// Selects all parameters.
inline bool every_name(const std::string& /*name*/) { return true; }

// Selects a parameter of that name, and those below a child of that name: "encoder.0" selects
// "encoder.0.norm.weight" but not "encoder.01".
inline NameFilter below(std::string name) {
  return [name = std::move(name)](const std::string& parameter) {
    return parameter == name || parameter.starts_with(name + ".");
  };
}

}  // namespace weft
