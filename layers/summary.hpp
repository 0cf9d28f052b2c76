// Prints models: the tree of modules and the table of parameters.
#pragma once

#include <iosfwd>
#include <string>

#include "weft/autograd/export.hpp"
#include "weft/layers/module.hpp"

namespace weft {

// Returns the number of elements of all parameters. Tied parameters count once.
template <class T>
WEFT_API Index count_parameters(const Module<T>& module);

// Prints the tree of modules in PyTorch's format, with one line per module and children indented.
// Consecutive identical children of a list are printed once, as "(0-5): 6 x …".
template <class T>
WEFT_API std::ostream& operator<<(std::ostream& out, const Module<T>& module);

// Returns a table with one line per parameter (name, shape, number of elements and bytes), followed
// by a line of totals.
template <class T>
WEFT_API std::string parameter_table(const Module<T>& module);

}  // namespace weft
