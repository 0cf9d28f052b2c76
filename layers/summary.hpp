// A model as text: its tree of modules and its table of parameters.
#pragma once

#include <iosfwd>
#include <string>

#include "weft/layers/module.hpp"

namespace weft {

// The number of elements of all parameters.
template <class T>
Index count_parameters(const Module<T>& module);

// The tree of modules, written as PyTorch writes it: a line a module, children indented under their
// names, and neighbours in a list that read alike written once, as "(0-5): 6 x …".
template <class T>
std::ostream& operator<<(std::ostream& out, const Module<T>& module);

// A line a parameter, with its name, shape, number of elements and bytes, and a line of totals.
template <class T>
std::string parameter_table(const Module<T>& module);

extern template Index count_parameters(const Module<float>&);
extern template Index count_parameters(const Module<double>&);
extern template std::ostream& operator<<(std::ostream&, const Module<float>&);
extern template std::ostream& operator<<(std::ostream&, const Module<double>&);
extern template std::string parameter_table(const Module<float>&);
extern template std::string parameter_table(const Module<double>&);

}  // namespace weft
