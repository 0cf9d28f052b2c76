// Prints models: the tree of modules and the table of parameters.
#pragma once

#include <iosfwd>
#include <string>

#include "weft/autograd/export.hpp"
#include "weft/layers/module.hpp"

namespace weft {

// The number of elements of all parameters; tied ones count once.
template <class T>
WEFT_API Index count_parameters(const Module<T>& module);

// Prints the tree of modules in PyTorch's format: one line per module, children indented under
// their names, and consecutive identical children of a list printed once, as "(0-5): 6 x …".
template <class T>
WEFT_API std::ostream& operator<<(std::ostream& out, const Module<T>& module);

// One line per parameter with its name, shape, number of elements and bytes, then a line of totals.
template <class T>
WEFT_API std::string parameter_table(const Module<T>& module);

}  // namespace weft
