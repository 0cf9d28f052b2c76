// NameFilter: selects parameters of a model by their full names.
#pragma once

#include <functional>
#include <string>
#include <utility>

namespace weft {

// Returns whether to select the parameter with this full name. Functions that take a model and a
// filter select a parameter with several names (tied weights) if the filter selects any of them.
using NameFilter = std::function<bool(const std::string& name)>;

// Selects all parameters.
inline bool every_name(const std::string& /*name*/) { return true; }

// Returns a filter that selects the parameter called `name` and all parameters of the child called
// `name`: "encoder.0" selects "encoder.0.norm.weight" but not "encoder.01".
inline NameFilter below(std::string name) {
  return [name = std::move(name)](const std::string& parameter) {
    return parameter == name || parameter.starts_with(name + ".");
  };
}

}  // namespace weft
